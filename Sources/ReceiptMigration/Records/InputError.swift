/// Why an input as a whole cannot be read. Problems of single records are ``InputProblem``s and never stop a run.
package struct InputError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable, Equatable {
        /// The path names nothing.
        case notFound
        /// The path exists and may not be read.
        case notPermitted
        /// The system refused to open or read it for another reason.
        case unreadable
        /// More folders inside folders than ``InputLimits/folderDepth``.
        case foldersTooDeep
        /// The table has no column of the name that was asked for.
        case columnNotFound
        /// No column of the table could be told to hold receipts.
        case columnUndetectable
        /// Several columns of the table hold receipts.
        case columnAmbiguous
        /// The table's first row never ends, or has no columns.
        case noHeader
    }

    package let code: Code
    /// The path as it was reached from the caller's argument, or "-" for standard input.
    package let input: String
    /// The system's error number, where there is one.
    package let systemError: Int32?
    /// One sentence for a person.
    package let message: String

    package init(code: Code, input: String, systemError: Int32? = nil, message: String) {
        self.code = code
        self.input = input
        self.systemError = systemError
        self.message = message
    }

    package var description: String { message }
}
