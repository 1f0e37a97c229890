/// Processes batches of records in parallel, and delivers the results in the order of the input.
struct BatchPipeline<Batch: Sendable> {
    /// Processes a batch.
    let work: @Sendable (Batch, inout BatchOutput) async throws(MigrationError) -> Void
    /// The number of batches that are processed at the same time. At most twice as many are in memory.
    let jobs: Int

    /// - Parameters:
    ///   - next: the next batch and its companion value; nil at the end.
    ///   - write: receives the result and the companion value of each batch.
    /// - Throws: what `next` and `write` throw.
    func run<Companion: Sendable>(
        _ next: () throws(MigrationError) -> (batch: Batch, companion: Companion)?,
        _ write: (BatchOutput, Companion) async throws(MigrationError) -> Void
    ) async throws(MigrationError) {
        if jobs <= 1 {
            // One thread, and the same memory for each batch.
            var output = BatchOutput()
            while let (batch, companion) = try next() {
                try await work(batch, &output)
                try await write(output, companion)
                output.removeAll()
                await Task.yield()
            }
            return
        }
        do {
            try await withThrowingTaskGroup(of: (Int, BatchOutput).self) { group in
                var (read, written, running) = (0, 0, 0)
                var companions: [Int: Companion] = [:]
                var finished: [Int: BatchOutput] = [:]
                var isExhausted = false
                // The batches before the error are written first.
                var failure: MigrationError?
                while true {
                    while !isExhausted, running < jobs, read - written < 2 * jobs {
                        var following: (batch: Batch, companion: Companion)?
                        do throws(MigrationError) { following = try next() } catch { failure = error }
                        guard let (batch, companion) = following else {
                            isExhausted = true
                            break
                        }
                        let index = read
                        companions[index] = companion
                        group.addTask { [work] in
                            var output = BatchOutput()
                            try await work(batch, &output)
                            return (index, output)
                        }
                        read += 1
                        running += 1
                    }
                    guard let (index, output) = try await group.next() else { break }
                    running -= 1
                    finished[index] = output
                    while let output = finished.removeValue(forKey: written),
                        let companion = companions.removeValue(forKey: written)
                    {
                        try await write(output, companion)
                        written += 1
                    }
                }
                if let failure { throw failure }
            }
        } catch {
            throw error as? MigrationError ?? MigrationError(.input, path: "", "The migration was stopped: \(error).")
        }
    }
}

extension RecordSource {
    /// The next batch of a migration, which may be canceled between batches.
    func nextBatchUnlessCanceled() throws(MigrationError) -> InputBatch? {
        if Task.isCancelled { throw .interrupted }
        do throws(InputError) {
            return try nextBatch()
        } catch {
            if error.code == .interrupted { throw .interrupted }
            var failure = MigrationError(
                error.code == .rowsAdded ? .inputChanged : .input, path: error.input, error.message)
            failure.isAboutContent = error.isAboutContent
            throw failure
        }
    }
}

extension MigrationError {
    static var interrupted: MigrationError { MigrationError(.interrupted, path: "", "The migration was interrupted.") }
}
