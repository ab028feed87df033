import os

import lit.formats
from lit.llvm import llvm_config

config.name = "mmx"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["golden", "Inputs", "CMakeLists.txt", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.mmx_build_dir, "test")

llvm_config.with_environment(
    "PATH",
    [os.path.join(config.mmx_build_dir, "bin"), config.llvm_tools_dir],
    append_path=True,
)
config.environment["MMX_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
config.substitutions.append(("%golden", os.path.join(config.test_source_root, "golden")))
config.substitutions.append(("%models", os.path.join(os.path.dirname(config.test_source_root), "models")))
# A CUDA driver that works on host memory (unittests/runtime/FakeCuda.h).
config.substitutions.append(("%fake-cuda", os.path.join(config.mmx_build_dir, "lib/libmmx-test-fake-cuda.so")))
config.substitutions.append(("%build", config.mmx_build_dir))
config.substitutions.append(("%python", config.python_executable))
if config.mmx_ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", config.mmx_ptxas))
if config.mmx_sanitize:
    config.available_features.add("sanitizers")
