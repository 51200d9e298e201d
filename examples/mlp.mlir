module @jit_xor_mlp attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x2xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[[1.000000e+00, 1.000000e+00], [1.000000e+00, 1.000000e+00]]> : tensor<2x2xf32>
    %cst_0 = stablehlo.constant dense<[0.000000e+00, -1.000000e+00]> : tensor<2xf32>
    %cst_1 = stablehlo.constant dense<[[1.000000e+00], [-2.000000e+00]]> : tensor<2x1xf32>
    %0 = stablehlo.dot_general %arg0, %cst, contracting_dims = [1] x [0] : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<4x2xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x2xf32>
    %4 = call @relu(%3) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %5 = stablehlo.dot_general %4, %cst_1, contracting_dims = [1] x [0] : (tensor<4x2xf32>, tensor<2x1xf32>) -> tensor<4x1xf32>
    %6 = stablehlo.reshape %5 : (tensor<4x1xf32>) -> tensor<4xf32>
    return %6 : tensor<4xf32>
  }
  func.func private @relu(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x2xf32>
    return %1 : tensor<4x2xf32>
  }
}
