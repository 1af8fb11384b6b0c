start_from ../vision/qwen2_vl_two_images
:
