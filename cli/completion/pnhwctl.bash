# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for pnhwctl. The words come from the program itself. Names of devices are foreign:
# they are compared and quoted, and never reach `compgen -W`, which would run what is in them.

# Takes those of the given words that begin with what was typed, quoted or not.
_pnhwctl_take()
{
    local cur=$1 word quoted

    shift
    for word; do
        printf -v quoted %q "$word"
        [[ -n $word && ($word == "$cur"* || $quoted == "$cur"*) ]] && COMPREPLY+=("$quoted")
    done
}

_pnhwctl()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} what=verbs verb= i
    local -a words=() ask=(pnhwctl)

    COMPREPLY=()
    # bash splits --json=short at the equals sign.
    [[ $cur == = ]] && cur=
    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
    # The verb, and who is to be asked.
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --socket | --from | --host | -H | --timeout | --explain | --format | --output | --seconds | \
            --exec | --at-least | --reason | --until | --json)
            local option=${COMP_WORDS[i]}

            [[ ${COMP_WORDS[i + 1]-} == = ]] && ((i++))
            ((i++))
            [[ $option == --socket || $option == --from ]] && ((i < COMP_CWORD)) &&
                ask+=("$option=${COMP_WORDS[i]}")
            ;;
        -* | =) ;;
        *)
            verb=${verb:-${COMP_WORDS[i]}}
            ;;
        esac
    done
    case $prev in
    --json)
        _pnhwctl_take "$cur" pretty short off
        return
        ;;
    --explain)
        mapfile -t words < <("${ask[@]}" --complete=codes 2>/dev/null)
        _pnhwctl_take "$cur" "${words[@]%%:*}"
        return
        ;;
    --host | -H)
        # After a comma, the next one.
        mapfile -t words < <(compgen -A hostname -- "${cur##*[,@]}")
        [[ $cur == *[,@]* ]] && words=("${words[@]/#/${cur%"${cur##*[,@]}"}}")
        _pnhwctl_take "$cur" "${words[@]}"
        return
        ;;
    --format)
        if [[ $verb == metrics ]]; then
            _pnhwctl_take "$cur" openmetrics prometheus
        else
            _pnhwctl_take "$cur" markdown html svg json
        fi
        return
        ;;
    --at-least)
        _pnhwctl_take "$cur" info notice warning critical
        return
        ;;
    --reason | --until | --timeout | --seconds)
        return
        ;;
    --from | --socket | --output | --exec)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        [[ $prev == --exec && $cur != */* ]] &&
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -- "$cur")
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        mapfile -t words < <(pnhwctl --complete=options 2>/dev/null)
        _pnhwctl_take "$cur" "${words[@]}"
        [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
        return
    fi
    case $verb in
    '') what=verbs ;;
    show | check) what=devices ;;
    measure) what=drives ;;
    accept | unaccept) what=findings ;;
    *) return ;;
    esac
    mapfile -t words < <("${ask[@]}" --complete=$what 2>/dev/null)
    [[ $what == verbs || $what == findings ]] && words=("${words[@]%%:*}")
    _pnhwctl_take "$cur" "${words[@]}"
    # A colon separates words, too: an address must be given back from its last one on.
    declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$cur"
    return 0
}
complete -F _pnhwctl pnhwctl
