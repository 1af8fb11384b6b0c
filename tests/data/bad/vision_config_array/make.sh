start_from ../vision/qwen2_vl_two_images
edit model/config.json 's/"vision_config": {/"vision_config": [], "other": {/'
