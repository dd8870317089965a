# Completes kubectl-spy in PowerShell.

Register-ArgumentCompleter -Native -CommandName kubectl-spy, kubectl-spy.exe -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @($commandAst.CommandElements |
        Where-Object { $_.Extent.EndOffset -le $cursorPosition } |
        ForEach-Object { if ($_.Value -is [string]) { $_.Value } else { $_.Extent.Text } } |
        Select-Object -Skip 1)
    # The word at the cursor is empty after a space. Old versions drop an empty argument of a program.
    $empty = if ($PSNativeCommandArgumentPassing -in 'Standard', 'Windows') { '' } else { '""' }
    if ($wordToComplete -eq '') { $words += $empty }
    $out = @(kubectl-spy __complete @words 2>$null)
    if ($out.Count -eq 0) { return }
    $directive = [int]$out[-1].TrimStart(':')
    # Without a result, PowerShell completes files. An empty text keeps it from that.
    if (($directive -band 4) -eq 0) { return }
    if ($out.Count -eq 1) { return '' }
    # The value of `--flag=value` is offered with the flag before it.
    $prefix = if ($wordToComplete -match '^(-[^=]*=)') { $Matches[1] } else { '' }
    foreach ($line in $out | Select-Object -SkipLast 1) {
        $value, $about = $line -split "`t", 2
        if (-not $about) { $about = $value }
        $text = $prefix + $value
        # PowerShell takes four letters for a single quote. Two of them are one within quotes.
        if ($text -match '[^\w./:=+%-]') {
            $text = "'" + ($text -replace "['\u2018-\u201b]", '$0$0') + "'"
        }
        if (($directive -band 2) -eq 0) { $text += ' ' }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $about)
    }
}
