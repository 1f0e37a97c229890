extension String {
    /// The text in quotes, for SQL or a shell. Each quote inside is escaped, also one before a combining mark: to
    /// `replacing(_:with:)` of `String`, the two are one character, and no quote.
    package func inQuotes(_ quote: Unicode.Scalar, escapedAs escape: String) -> String {
        "\(quote)\(String(unicodeScalars.replacing([quote], with: escape.unicodeScalars)))\(quote)"
    }
}
