/// Why a product catalogue was refused: a code to branch on, the place, and a sentence for a person.
public struct CatalogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was found wrong, for a program to branch on.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The file or folder cannot be opened or read. Correct the path or the permissions.
        case unreadable
        /// The catalogue is larger than a limit of ``CatalogLimits``. Split it, or remove what is not needed.
        case tooLarge
        /// The catalogue is nested deeper than a limit of ``CatalogLimits``. Check that the file is a catalogue.
        case tooDeep
        /// The text is not in the encoding that the format demands. Save the file as UTF-8.
        case badEncoding
        /// The text is not well-formed YAML, JSON or XML. Correct it at the place that the error names.
        case syntax
        /// The file is of none of the known kinds. Give our YAML or JSON, a `.storekit` file or a `metadata.xml`.
        case unknownFormat
        /// YAML anchors and aliases are refused, since a few lines of them can grow without bound. Write the value out.
        case aliasRefused
        /// XML document types and entities are refused, since they can read files and grow without bound. Remove the
        /// declaration.
        case documentTypeRefused
        /// The format has a version that this reader does not know. Update this package, or export an older version.
        case unsupportedVersion
        /// Our catalogue format does not have this key. Correct its spelling or remove it.
        case unknownKey
        /// Something that the format demands is missing. Add it.
        case missingValue
        /// The value has another type than the key demands. Correct it.
        case wrongType
        /// The value is out of its bounds or not one of the known ones. Correct it.
        case badValue
        /// The product type is unknown. Use one of Apple's four types.
        case unknownProductType
        /// The value is not a period, or not one that the format has. Write it as ISO 8601, `P1M` for one.
        case badPeriod
        /// One product, pattern, offer or key appears twice in one file. Remove one of them.
        case duplicate
        /// Two facts cannot both be true; ``CatalogError/otherPlace`` names the other one. Correct one of them.
        case conflict
        /// Two equally specific patterns match the same product id. Make one of them longer, or list the product
        /// itself.
        case ambiguousPatterns
    }

    /// What was found wrong.
    public let code: Code
    /// The file, and the line or element in it.
    public let place: CatalogSource
    /// The other place of a duplicate, a conflict or an ambiguity.
    public let otherPlace: CatalogSource?
    /// The reason, for a person, without the places.
    public let message: String

    /// An error at a place of a catalogue.
    public init(_ code: Code, at place: CatalogSource, and otherPlace: CatalogSource? = nil, _ message: String) {
        self.code = code
        self.place = place
        self.otherPlace = otherPlace
        self.message = message
    }

    /// Two errors are equal when their codes are, wherever and in whatever words they were found.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    public var description: String {
        guard let otherPlace else { return "\(place): \(message)" }
        return "\(place): \(message) (other place: \(otherPlace))"
    }
}

/// The bounds of what a catalogue may hold. Beyond them it is refused with ``CatalogError/Code/tooLarge`` or
/// ``CatalogError/Code/tooDeep``.
public enum CatalogLimits {
    /// Bytes of a YAML, JSON or `.storekit` file. (A feed is streamed and may be longer.)
    public static let fileBytes = 16 * 1_024 * 1_024
    /// Levels of mappings and sequences in a YAML or JSON catalogue.
    public static let yamlDepth = 16
    /// Levels of elements in a feed.
    public static let feedDepth = 64
    /// Bytes before the root element of a feed.
    public static let feedPrologBytes = 65_536
    /// UTF-8 bytes of text in one element of a feed that is read, and of one value in a catalogue.
    public static let textBytes = 4_096
    /// UTF-8 bytes of a product identifier.
    public static let productIdBytes = 255
    /// Bytes of a pattern, wildcards not counted twice.
    public static let patternBytes = 127
    /// Entries of a whole catalogue.
    public static let entries = 100_000
    /// Patterns of a whole catalogue: each costs a comparison per lookup.
    public static let patterns = 1_000
}
