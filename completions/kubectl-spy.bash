# Completes kubectl-spy in bash 3.2 and later. It needs no other package.

_kubectl_spy() {
  local words cur out directive value about width=0 i
  local quote start tilde head= quoted
  local -a values=() abouts=()
  _kubectl_spy_words "${COMP_LINE:0:COMP_POINT}"
  cur=${words[${#words[@]} - 1]}

  COMPREPLY=()
  out=$(kubectl-spy __complete "${words[@]:1}" 2>/dev/null) || return
  directive=${out##*:}
  while IFS=$'\t' read -r value about; do
    case $value in '' | :[0-9]*) continue ;; esac
    values+=("$value")
    abouts+=("$about")
  done <<<"$out"

  # The value of `--flag=value` is offered without the flag.
  case $cur in -*=*) head=${cur%%=*}= cur=${cur#*=} ;; esac
  if [ $((directive & 4)) -eq 0 ]; then
    _kubectl_spy_files $((directive & 16))
    return
  fi
  for ((i = 0; i < ${#values[@]}; i++)); do
    _kubectl_spy_quote "${values[i]}"
    values[i]=$quoted
    [ ${#quoted} -le $width ] || width=${#quoted}
  done
  if [ ${#values[@]} -eq 1 ]; then
    # The space is ours: `compopt -o nospace` needs bash 4. Readline closes an open quote.
    [ $((directive & 2)) -ne 0 ] || [ -n "$quote" ] || values[0]+=' '
  elif [ "${COMP_TYPE-}" != 37 ] && [ "${COMP_TYPE-}" != 42 ]; then
    for ((i = 0; i < ${#values[@]}; i++)); do
      [ -n "${abouts[i]}" ] || continue
      printf -v value "%-${width}s  (%s)" "${values[i]}" "${abouts[i]}"
      values[i]=$value
    done
  fi
  [ ${#values[@]} -eq 0 ] || COMPREPLY=("${values[@]}")
}

# Splits a line into `words`, without their quotes. Not COMP_WORDS: readline also splits words at = and :. Also sets the
# `quote` that is open at the end, `start`, where the part of the last word starts that readline replaces, and `tilde`, if
# the last word starts with one that is not quoted.
_kubectl_spy_words() {
  local line=$1 char next word= has= at=0
  words=() quote= start=0 tilde=
  while [ $at -lt ${#line} ]; do
    char=${line:at:1} next=${line:at+1:1} at=$((at + 1))
    if [ "$quote" = "'" ] && [ "$char" != "'" ]; then
      word+=$char
    elif [ "$char" = "\\" ] && [ "$quote" != "'" ]; then
      case $quote$next in
        \"[\$\`\"\\]) ;;
        \"*) word+=$char ;;
      esac
      word+=$next has=1 at=$((at + 1))
    elif [ -n "$quote" ] && [ "$char" != "$quote" ]; then
      word+=$char
    elif [ -n "$quote" ]; then
      quote= start=${#word}
    else
      case $char in
        [[:space:]])
          [ -z "$has" ] || words+=("$word")
          word= has= start=0 tilde=
          ;;
        [\'\"])
          quote=$char has=1 start=${#word}
          ;;
        *)
          [ "$char$has" != "~" ] || tilde=1
          word+=$char has=1
          case ${COMP_WORDBREAKS-} in *"$char"*) start=${#word} ;; esac
          ;;
      esac
    fi
  done
  words+=("$word")
}

# Sets `quoted` to what readline inserts for a value: the part after that which stays, so that bash reads it as text and runs
# nothing in it. Names of files may come from anyone.
_kubectl_spy_quote() {
  local text=$head$1 char i
  text=${text:start}
  quoted=
  case $quote in
    '')
      # Where readline replaces the whole word, the home directory of the user stays one.
      case $tilde$start$text in '10~/'*) quoted='~/' text=${text:2} ;; esac
      [ -z "$text" ] || { printf -v text %q "$text" && quoted+=$text; }
      return
      ;;
  esac
  for ((i = 0; i < ${#text}; i++)); do
    char=${text:i:1}
    case $quote$char in
      "''") quoted+="'\\''" ;;
      # Within double quotes, nothing else keeps it from the history.
      '"!') quoted+="\"'!'\"" ;;
      \"[\$\`\"\\]) quoted+="\\$char" ;;
      *) quoted+=$char ;;
    esac
  done
}

# Completes a file, or with an argument other than 0 a directory.
_kubectl_spy_files() {
  local path from=$cur home= how=-f
  [ "$1" -eq 0 ] || how=-d
  case $tilde$cur in '1~/'*) home=$HOME from=$HOME${cur:1} ;; esac
  while IFS= read -r path; do
    # The parts of a name with a line feed are no files.
    [ -e "$path" ] || [ -L "$path" ] || continue
    case $path in "$from"*) ;; *) continue ;; esac
    [ -z "$home" ] || path=\~${path:${#home}}
    # It would be a flag.
    case $head$path in -*) [ -n "$head" ] || path=./$path ;; esac
    _kubectl_spy_quote "$path"
    [ -z "$home" ] || path=$home${path:1}
    if [ -d "$path" ]; then quoted+=/; elif [ -z "$quote" ]; then quoted+=' '; fi
    COMPREPLY+=("$quoted")
  done <<<"$(compgen $how -- "$from" 2>/dev/null)"
}

complete -o nospace -F _kubectl_spy kubectl-spy
