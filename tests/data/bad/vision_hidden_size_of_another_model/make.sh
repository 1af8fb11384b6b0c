start_from ../vision/qwen2_vl_two_images
edit model/config.json '/vision_config/,/}/s/"hidden_size": 24/"hidden_size": 32/'
