# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for pnhwctl. The words come from the program itself.
_pnhwctl()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} what=verbs word words

    COMPREPLY=()
    # bash splits --json=short at the equals sign.
    [[ $cur == = ]] && cur=
    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
    case $prev in
    --json)
        mapfile -t COMPREPLY < <(compgen -W 'pretty short off' -- "$cur")
        return
        ;;
    --format)
        mapfile -t COMPREPLY < <(compgen -W 'openmetrics prometheus' -- "$cur")
        return
        ;;
    --explain)
        words=$(pnhwctl --complete=codes 2>/dev/null)
        mapfile -t COMPREPLY < <(compgen -W "$(sed 's/:.*//' <<<"$words")" -- "$cur")
        return
        ;;
    --host | -H)
        mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur")
        return
        ;;
    --format)
        words='markdown html svg json'
        [[ " ${COMP_WORDS[*]} " == *' metrics '* ]] && words='openmetrics prometheus'
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
        ;;
    --at-least)
        mapfile -t COMPREPLY < <(compgen -W 'info notice warning critical' -- "$cur")
        return
        ;;
    --reason | --until)
        return
        ;;
    --from | --socket | --output | --exec)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
        ;;
    esac
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word == show || $word == check ]] && what=devices
        [[ $word == measure ]] && what=drives
        [[ $word == accept || $word == unaccept ]] && what=findings
    done
    if [[ $cur == -* ]]; then
        words=$(pnhwctl --complete=options 2>/dev/null)
    else
        words=$(pnhwctl --complete=$what 2>/dev/null)
        [[ $what == verbs || $what == findings ]] && words=$(sed 's/:.*//' <<<"$words")
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
    # A colon separates words, too: an address must be given back from its last one on.
    declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$cur"
}
complete -F _pnhwctl pnhwctl
