start_from ../vision/qwen2_vl_two_images
echo x >values.safetensors
