start_from ../vision/qwen2_vl_videos
values() { # values HEADER BYTES
    length=${#1}
    { length_bytes "$length" && printf %s "$1" && head -c "$2" /dev/zero; } >values.safetensors
}
values '{"pixel_values_videos":{"dtype":"F32","shape":[4,24],"data_offsets":[0,384]},"video_grid_thw":{"dtype":"I64","shape":[1,3],"data_offsets":[384,408]}}' 408
