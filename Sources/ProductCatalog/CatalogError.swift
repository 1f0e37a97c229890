/// Why a product catalogue was refused: a code to branch on, the place, and a sentence for a person.
public struct CatalogError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable, CaseIterable {
        /// The file or folder cannot be opened or read.
        case unreadable
        /// Longer than a limit of ``CatalogLimits``.
        case tooLarge
        /// Nested more deeply than a limit of ``CatalogLimits``.
        case tooDeep
        /// Not the text encoding that the format demands.
        case badEncoding
        /// Not well-formed YAML, JSON or XML.
        case syntax
        /// The file is of none of the known kinds.
        case unknownFormat
        /// A YAML anchor or alias.
        case aliasRefused
        /// An XML document type or entity declaration.
        case documentTypeRefused
        /// A format version this reader does not know.
        case unsupportedVersion
        /// A key that our catalogue format does not have.
        case unknownKey
        /// Something the format demands is not there.
        case missingValue
        /// A value of another kind than the key demands.
        case wrongType
        /// A value out of its bounds or not among the known ones.
        case badValue
        /// A product type that is not known.
        case unknownProductType
        /// Not a period, or not one in the words of the format.
        case badPeriod
        /// One product, pattern, offer or key twice in one file.
        case duplicate
        /// Two facts that cannot both be true.
        case conflict
        /// Two equally specific patterns that match the same product identifier.
        case ambiguousPatterns
    }

    public let code: Code
    /// The file, and the line or element in it.
    public let place: CatalogSource
    /// The other place of a duplicate, a conflict or an ambiguity.
    public let otherPlace: CatalogSource?
    /// The reason, for a person, without the places.
    public let message: String

    public init(_ code: Code, at place: CatalogSource, and otherPlace: CatalogSource? = nil, _ message: String) {
        self.code = code
        self.place = place
        self.otherPlace = otherPlace
        self.message = message
    }

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
