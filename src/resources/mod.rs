//! One builder per Kubernetes object. Pure: builders take validated values and return objects.
