start_from ../vision/qwen2_vl_two_images
edit model/config.json 's/"patch_size": 2/"patch_size": 0/'
