//! Methods of a wrapper that only call the wrapped value's.

/// `forward!(inner: fn name(&self, argument: Type) -> Result;)` calls `self.inner.name(argument)`.
macro_rules! forward {
    ($inner:ident: $(fn $name:ident(&self $(, $argument:ident: $type:ty)*) -> $result:ty;)*) => {
        $(
            fn $name(&self $(, $argument: $type)*) -> $result {
                self.$inner.$name($($argument),*)
            }
        )*
    };
}

pub(crate) use forward;
