#if canImport(Testing)
    package import Testing
    import TestSupport

    /// A test that computes for seconds, or that waits for a program without giving up its thread: it runs on
    /// ``ComputingThreads``, as do its child tasks.
    package struct Computing: TestTrait, SuiteTrait, TestScoping {
        package var isRecursive: Bool { true }

        package func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
        ) async throws {
            try await withTaskExecutorPreference(ComputingThreads.shared) { try await function() }
        }
    }

    extension Trait where Self == Computing {
        /// Runs what takes long beside the threads that the other tests share.
        package static var computing: Self { Computing() }
    }
#endif
