internal import Foundation

/// A file that gets its name when it is complete, so an interruption leaves no file of that name.
package struct NewFile: Sendable {
    private let name: String
    /// The path until ``finish()``.
    package let unfinished: String

    /// - Throws: ``TransactionStoreError`` `invalidArgument` if there is a file of the name.
    package init(_ name: String) throws(TransactionStoreError) {
        self.name = name
        unfinished = name + ".new-\(UUID().uuidString)"
        var status = stat()
        guard lstat(name, &status) != 0 else { throw isInTheWay }
    }

    /// Gives the file its name. Unlike a rename, this never replaces a file.
    /// - Throws: ``TransactionStoreError``.
    package func finish() throws(TransactionStoreError) {
        guard link(unfinished, name) == 0 else {
            throw errno == EEXIST ? isInTheWay : TransactionStoreError(.notWritable, "Cannot name the backup \(name).")
        }
    }

    private var isInTheWay: TransactionStoreError {
        TransactionStoreError(
            .invalidArgument, "The file \(name) exists: choose another name, because a backup replaces no file.")
    }
}
