# SPDX-License-Identifier: Apache-2.0
# Completion for fish. The program itself says which options a command takes.
function __graft_options
    set -l words (commandline -opc)
    set -l command run
    if test (count $words) -gt 1; and not string match -q -- '-*' $words[2]
        set command $words[2]
    end
    $words[1] $command --list-options 2>/dev/null | string replace -r ' .*' ''
end
complete -c graft -n 'test (count (commandline -opc)) -eq 1' \
    -a 'run chat serve plan tokenize save list inspect verify bench perplexity family compare-hf new pack install remove try validate'
complete -c graft -n 'string match -q -- "-*" (commandline -ct)' -a '(__graft_options)'
complete -c graft -l plugins-dir -x -a 'default (__fish_complete_directories)'
complete -c graft -l adapter -x -a '(__fish_complete_directories)'
complete -c graft -l against -x -a '(__fish_complete_directories)'
complete -c graft -l quantize -x -a 'int4 int8 nf4 fp8 mxfp4'
complete -c graft -l dtype -x -a 'auto float32 bfloat16'
complete -c graft -l kv-cache-dtype -x -a 'auto float32 bfloat16'
complete -c graft -l report -x -a 'text full json none'
complete -c graft -l attn-implementation -x -a 'eager sdpa'
complete -c graft -l experts-implementation -x -a 'eager batched_mm grouped_mm'
