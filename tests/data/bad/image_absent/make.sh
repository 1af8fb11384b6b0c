start_from ../vision/qwen2_vl_two_images
cp "$goldens/../images/rgb_up.png" picture.png
cp "$goldens/../images/preprocessor_config.json" model/
edit model/preprocessor_config.json "s/\"temporal_patch_size\": 1/\"temporal_patch_size\": 2/"
rm picture.png
