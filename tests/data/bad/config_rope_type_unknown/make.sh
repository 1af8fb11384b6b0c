config rope_scaling '{"rope_type": "spiral"}'
