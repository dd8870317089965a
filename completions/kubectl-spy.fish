# Completes kubectl-spy in fish.

function __kubectl_spy_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct | string unescape | string collect -a)
    set -l out (kubectl-spy __complete $words[2..-1] "$cur" 2>/dev/null)
    test (count $out) -gt 0; or return
    set -l directive (string sub -s 2 -- $out[-1])
    # The value of `--flag=value` is offered with the flag before it.
    set -l prefix (string match -r -- '^-[^=]*=' "$cur")
    if test (math "bitand($directive, 4)") -eq 0
        set -l path (string replace -- "$prefix" '' "$cur")
        if test (math "bitand($directive, 16)") -ne 0
            string replace -r -- '^' "$prefix" (__fish_complete_directories $path '')
        else
            string replace -r -- '^' "$prefix" (__fish_complete_path $path)
        end
        return
    end
    for line in $out[1..-2]
        echo -- "$prefix$line"
    end
    # After a single offer fish adds a space, except after some characters.
    if test (count $out) -eq 2; and test (math "bitand($directive, 2)") -ne 0
        set -l value (string split -f 1 \t -- $out[1])
        string match -q -r '[/=@:.,]$' -- $value; or echo -- "$prefix$value."
    end
end

complete -c kubectl-spy -f -a '(__kubectl_spy_complete)'
