# Completes kubectl-spy in bash 3.2 and later. It needs no other package.

_kubectl_spy() {
  local words word cur out directive shown value about width=0 i
  local -a values=() abouts=()
  # Not COMP_WORDS: readline also splits words at = and :. Without -r, read removes backslashes.
  read -a words <<<"${COMP_LINE:0:COMP_POINT}"
  case ${COMP_LINE:0:COMP_POINT} in *[[:space:]]) words+=("") ;; esac
  for ((i = 0; i < ${#words[@]}; i++)); do
    word=${words[i]}
    case $word in
      \'*) word=${word#\'} word=${word%\'} ;;
      \"*) word=${word#\"} word=${word%\"} ;;
    esac
    words[i]=$word
  done
  cur=${words[${#words[@]} - 1]}

  COMPREPLY=()
  out=$(kubectl-spy __complete "${words[@]:1}" 2>/dev/null) || return
  directive=${out##*:}
  while IFS=$'\t' read -r value about; do
    case $value in '' | :[0-9]*) continue ;; esac
    values+=("$value")
    abouts+=("$about")
  done <<<"$out"

  case $cur in -*=*) cur=${cur#*=} ;; esac
  if [ $((directive & 4)) -eq 0 ]; then
    _kubectl_spy_files "$cur" $((directive & 16))
    return
  fi
  # Readline replaces only the part of the word after the last = or :.
  case $cur in *[=:]*) shown=${cur%"${cur##*[=:]}"} ;; *) shown= ;; esac
  for ((i = 0; i < ${#values[@]}; i++)); do
    value=${values[i]#"$shown"}
    # Within quotes, readline itself quotes the value.
    case ${COMP_LINE:0:COMP_POINT} in
      *[[:space:]=][\'\"]*) ;;
      *) value=$(printf %q "$value") ;;
    esac
    values[i]=$value
    [ ${#value} -le $width ] || width=${#value}
  done
  if [ ${#values[@]} -eq 1 ]; then
    # The space is ours: `compopt -o nospace` needs bash 4.
    [ $((directive & 2)) -ne 0 ] || values[0]+=' '
  elif [ "${COMP_TYPE-}" != 37 ] && [ "${COMP_TYPE-}" != 42 ]; then
    for ((i = 0; i < ${#values[@]}; i++)); do
      [ -n "${abouts[i]}" ] || continue
      printf -v value "%-${width}s  (%s)" "${values[i]}" "${abouts[i]}"
      values[i]=$value
    done
  fi
  [ ${#values[@]} -eq 0 ] || COMPREPLY=("${values[@]}")
}

# Completes a file, or with a second argument other than 0 a directory.
_kubectl_spy_files() {
  local path shown= how=-f
  [ "$2" -eq 0 ] || how=-d
  case $1 in *[=:]*) shown=${1%"${1##*[=:]}"} ;; esac
  while IFS= read -r path; do
    [ -n "$path" ] || continue
    if [ -d "$path" ]; then path=$path/; else path="$path "; fi
    COMPREPLY+=("${path#"$shown"}")
  done <<<"$(compgen $how -- "$1")"
}

complete -o nospace -F _kubectl_spy kubectl-spy
