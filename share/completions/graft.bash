# SPDX-License-Identifier: Apache-2.0
# Completion for bash. The program itself says which options a command takes.
_graft() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=run choices=
    local commands='run chat serve plan tokenize save list inspect verify bench perplexity family compare-hf new pack install remove try validate'
    [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} != -* ]] && command=${COMP_WORDS[1]}
    case $before in
    --plugins-dir) choices=default ;;
    --quantize) choices='int4 int8 nf4 fp8 mxfp4' ;;
    --lang) choices='c cpp rust' ;;
    --dtype|--kv-cache-dtype) choices='auto float32 bfloat16' ;;
    --report) choices='text full json none' ;;
    --attn-implementation) choices='eager sdpa' ;;
    --experts-implementation) choices='eager batched_mm grouped_mm' ;;
    esac
    if [[ -z $choices && $word == -* ]]; then
        choices=$("${COMP_WORDS[0]}" "$command" --list-options 2>/dev/null | cut -d ' ' -f 1)
    elif [[ -z $choices && $COMP_CWORD -eq 1 ]]; then
        choices=$commands
    fi
    # Where none of these fits, names of files are offered (-o default).
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}
complete -o default -F _graft graft
