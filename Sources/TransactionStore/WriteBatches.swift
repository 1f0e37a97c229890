/// Divides a long write into batches, so that other programs can write between two of them.
package enum WriteBatches {
    /// Calls `write` until it returns false. The pause after a batch lasts as long as the batch, at most 100 milliseconds.
    ///
    /// A program that waits for an SQLite file tries again at most 100 milliseconds later. Without a pause it would find the
    /// file locked each time.
    package static func run(_ write: () async throws -> Bool) async throws {
        while true {
            let begin = ContinuousClock.now
            guard try await write() else { return }
            // Without a pause if the task is cancelled: the next batch finds that out.
            try? await Task.sleep(for: min(begin.duration(to: .now), .milliseconds(100)))
        }
    }
}
