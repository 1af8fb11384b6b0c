start_from ../vision/qwen2_vl_videos
values() { # values HEADER BYTES
    length=${#1}
    { length_bytes "$length" && printf %s "$1" && head -c "$2" /dev/zero; } >values.safetensors
}
values '{"pixel_values_videos":{"dtype":"F32","shape":[0,24],"data_offsets":[0,0]},"video_grid_thw":{"dtype":"I64","shape":[0,3],"data_offsets":[0,0]}}' 0
