/// Why an input as a whole cannot be read. Problems of single records are ``InputProblem``s and never stop a run.
package struct InputError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable, Equatable {
        /// The path does not exist. Correct it.
        case notFound
        /// The path exists, but cannot be read. Correct its permissions.
        case notPermitted
        /// The system refused to open or read it for another reason; see ``InputError/systemError``.
        case unreadable
        /// More folders inside folders than ``InputLimits/folderDepth``.
        case foldersTooDeep
        /// The name of a file or folder is not UTF-8.
        case nameNotUTF8
        /// The reading task was canceled.
        case interrupted
        /// The table has no column of the requested name, or the objects have no such member.
        case columnNotFound
        /// The receipt column of the table cannot be detected.
        case columnUndetectable
        /// The table's first row never ends, or has no columns.
        case noHeader
        /// A database cannot be reached or rejects a query, or the key of the rows is unusable.
        case queryFailed
        /// A query has new rows before the one after which it continues.
        case rowsAdded
    }

    /// The reason.
    package let code: Code
    /// The path, beginning with the caller's argument, or "-" for standard input.
    package let input: String
    /// The system's error number, if there is one.
    package let systemError: Int32?
    /// One sentence for a person.
    package let message: String

    /// Whether only this file, link or folder is unreadable, so that the others can be read.
    var concernsOneEntry: Bool {
        switch code {
        case .notFound, .notPermitted, .unreadable, .foldersTooDeep, .nameNotUTF8: true
        default: false
        }
    }

    /// Whether the file, link or folder is missing or not permitted. A later run may be able to read it.
    var isUnopened: Bool { code == .notFound || code == .notPermitted }

    /// Whether the content of the input is the reason. Each run stops at the same record then.
    var isAboutContent: Bool {
        switch code {
        case .columnNotFound, .columnUndetectable, .noHeader: true
        default: false
        }
    }

    package init(code: Code, input: String, systemError: Int32? = nil, message: String) {
        self.code = code
        self.input = input
        self.systemError = systemError
        self.message = message
    }

    /// Two errors are equal if their codes are equal. Places and messages are not compared.
    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    package var description: String { message }
}
