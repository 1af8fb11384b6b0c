start_from ../vision/qwen2_vl_two_images
values() { # values HEADER BYTES
    length=${#1}
    { length_bytes "$length" && printf %s "$1" && head -c "$2" /dev/zero; } >values.safetensors
}
grid() { # grid T H W
    for number; do length_bytes "$number"; done
}
values '{"pixel_values":{"dtype":"F32","shape":[4,20],"data_offsets":[0,320]},"image_grid_thw":{"dtype":"I64","shape":[1,3],"data_offsets":[320,344]}}' 320
grid 1 2 2 >>values.safetensors
