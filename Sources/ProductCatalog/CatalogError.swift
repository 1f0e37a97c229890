/// The reason for rejecting a product catalog: a code to branch on, the place, and a message for people.
public struct CatalogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error, for a program to branch on.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The file or folder cannot be opened or read. Correct the path or the permissions.
        case unreadable
        /// The catalog exceeds a limit of ``CatalogLimits``. Split it, or remove unneeded parts.
        case tooLarge
        /// The catalog is nested deeper than ``CatalogLimits`` allows. Check that the file is a catalog.
        case tooDeep
        /// The text is not in the encoding that the format requires. Save the file as UTF-8.
        case badEncoding
        /// The text is not well-formed YAML, JSON or XML. Correct it at the place that the error states.
        case syntax
        /// The file is of an unknown kind. Use our YAML or JSON, a `.storekit` file or a `metadata.xml`.
        case unknownFormat
        /// YAML anchors and aliases are rejected, because a few lines of them can expand without limit. Write the value
        /// out.
        case aliasRefused
        /// XML document types and entities are rejected, because they can read files and expand without limit. Remove
        /// the declaration.
        case documentTypeRefused
        /// The reader does not support this version of the format. Update this package, or export an older version.
        case unsupportedVersion
        /// Our catalog format does not have this key. Correct its spelling or remove it.
        case unknownKey
        /// A required value is missing. Add it.
        case missingValue
        /// The value has a wrong type for its key. Correct it.
        case wrongType
        /// The value is out of range or not one of the allowed values. Correct it.
        case badValue
        /// The product type is unknown. Use one of Apple's four types.
        case unknownProductType
        /// The value is not a period that the format allows. Write it in ISO 8601, for example `P1M`.
        case badPeriod
        /// One product, pattern, offer or key appears twice in one file. Remove one of them.
        case duplicate
        /// Two facts contradict each other. ``CatalogError/otherPlace`` states the place of the second one. Correct one
        /// of them.
        case conflict
        /// Two equally specific patterns match the same product id. Make one of them longer, or list the product
        /// itself.
        case ambiguousPatterns
    }

    /// The kind of error.
    public let code: Code
    /// The file, and the line or element in it.
    public let place: CatalogSource
    /// The other place of a duplicate, a conflict or an ambiguity.
    public let otherPlace: CatalogSource?
    /// The reason, for people. It does not include the places.
    public let message: String

    /// An error at a place in a catalog.
    public init(_ code: Code, at place: CatalogSource, and otherPlace: CatalogSource? = nil, _ message: String) {
        self.code = code
        self.place = place
        self.otherPlace = otherPlace
        self.message = message
    }

    /// Two errors are equal if their codes are equal. Places and messages are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    public var description: String {
        guard let otherPlace else { return "\(place): \(message)" }
        return "\(place): \(message) (other place: \(otherPlace))"
    }
}

/// Limits for a catalog. A larger catalog is rejected with ``CatalogError/Code/tooLarge`` or
/// ``CatalogError/Code/tooDeep``.
public enum CatalogLimits {
    /// Bytes of a YAML, JSON or `.storekit` file. A feed is streamed and may be longer.
    public static let fileBytes = 16 * 1_024 * 1_024
    /// Levels of mappings and sequences in a YAML or JSON catalog.
    public static let yamlDepth = 16
    /// Levels of elements in a feed.
    public static let feedDepth = 64
    /// Bytes before the root element of a feed.
    public static let feedPrologBytes = 65_536
    /// UTF-8 bytes of text in one element of a feed, and of one value in a catalog.
    public static let textBytes = 4_096
    /// UTF-8 bytes of a product identifier.
    public static let productIdBytes = 255
    /// Bytes of a pattern. Consecutive `*` count as one.
    public static let patternBytes = 127
    /// Entries of a whole catalog.
    public static let entries = 100_000
    /// Patterns of a whole catalog. Each costs a comparison per look-up.
    public static let patterns = 1_000
}
