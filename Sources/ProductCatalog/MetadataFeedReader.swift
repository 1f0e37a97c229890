public import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads the in-app purchases of an App Store Connect feed (`NAME.itmsp/metadata.xml`).
///
/// The feed is read as a stream. Screenshots, leaderboards and other metadata are skipped, even if they take megabytes.
/// Document types, entities and external references are rejected before the XML parser sees the feed. Elements are
/// matched by their local names, in any version of the namespace.
///
/// `duration`, `free_trial_duration` and `bonus_duration` are words (`7 Days`, `1 Month`, `1 Year`). A free trial
/// becomes an introductory offer. The `family` of a subscription is stored as ``CatalogEntry/subscriptionGroupName``;
/// it is a label, not Apple's group identifier.
public enum MetadataFeedReader {
    /// The entries of one feed in order.
    ///
    /// - Parameters:
    ///   - path: The feed's XML file.
    ///   - file: The file's name for errors and sources; the path if left out.
    /// - Throws: ``CatalogError``.
    public static func entries(path: String, file: String? = nil) throws(CatalogError) -> [CatalogEntry] {
        let file = file ?? path
        return try parse(MetadataFeedStream(path: path, file: file), file: file)
    }

    /// The entries of a feed in memory.
    ///
    /// - Throws: ``CatalogError``.
    public static func entries(_ data: Data, file: String) throws(CatalogError) -> [CatalogEntry] {
        try parse(MetadataFeedStream(bytes: data, file: file), file: file)
    }

    private static func parse(_ stream: MetadataFeedStream, file: String) throws(CatalogError) -> [CatalogEntry] {
        try MetadataFeedProlog.check(stream.head(CatalogLimits.feedPrologBytes), file: file)
        let parser = XMLParser(stream: stream)
        parser.shouldProcessNamespaces = true
        parser.shouldReportNamespacePrefixes = false
        parser.shouldResolveExternalEntities = false
        let delegate = MetadataFeedDelegate(file: file)
        parser.delegate = delegate
        let isWellFormed = parser.parse()
        if let error = delegate.failure ?? stream.failure { throw error }
        guard isWellFormed, parser.parserError == nil, delegate.isComplete else {
            let line = parser.lineNumber > 0 ? parser.lineNumber : nil
            throw CatalogError(
                .syntax, at: CatalogSource(file: file, line: line), "not well-formed XML, or truncated")
        }
        try CatalogText.requireUnique(delegate.entries)
        return delegate.entries
    }
}

/// Receives the XML parser's events and keeps the contents of `in_app_purchases`.
private final class MetadataFeedDelegate: NSObject, XMLParserDelegate {
    private(set) var entries: [CatalogEntry] = []
    private(set) var failure: CatalogError?
    /// Whether the root element has been closed.
    private(set) var isComplete = false

    private let file: String
    /// Local names of the open elements.
    private var path: [String] = []
    private var family: String?
    private var product: MetadataFeedProduct?
    /// The field whose text is being read, and the depth of its element.
    private var field: (name: MetadataFeedProduct.Field, depth: Int, line: Int)?
    private var text = ""

    init(file: String) {
        self.file = file
    }

    private static let container = ["package", "software", "software_metadata", "in_app_purchases"]

    private var isInContainer: Bool {
        path.count >= Self.container.count && path.prefix(Self.container.count).elementsEqual(Self.container)
    }

    private func fail(_ error: CatalogError, _ parser: XMLParser) {
        if failure == nil { failure = error }
        parser.abortParsing()
    }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return }
        let line = parser.lineNumber
        if path.isEmpty, elementName != "package" {
            let place = CatalogSource(file: file, line: line, element: elementName)
            return fail(CatalogError(.unknownFormat, at: place, "the root element of a feed is package"), parser)
        }
        if path.count >= CatalogLimits.feedDepth {
            let place = CatalogSource(file: file, line: line, element: elementName)
            let message = "nested more than \(CatalogLimits.feedDepth) levels deep"
            return fail(CatalogError(.tooDeep, at: place, message), parser)
        }
        if let field {
            // The fields that are read contain text only.
            let place = CatalogSource(file: file, line: line, element: "\(field.name.rawValue).\(elementName)")
            return fail(CatalogError(.wrongType, at: place, "expected text, found an element"), parser)
        }
        let parent = path.last
        path.append(elementName)
        guard isInContainer else { return }
        switch elementName {
        case "family" where parent == "in_app_purchases":
            family = attributes["name"]
        case "in_app_purchase" where parent == "in_app_purchases" || parent == "family":
            product = MetadataFeedProduct(file: file, line: line, family: family)
        default:
            guard product != nil, let name = MetadataFeedProduct.Field(elementName, in: parent, attributes) else {
                return
            }
            field = (name, path.count, line)
            text = ""
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        append(string, parser)
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        append(String(decoding: block, as: UTF8.self), parser)
    }

    private func append(_ string: String, _ parser: XMLParser) {
        guard failure == nil, let field else { return }
        guard text.utf8.count + string.utf8.count <= CatalogLimits.textBytes else {
            let place = CatalogSource(file: file, line: field.line, element: field.name.rawValue)
            let message = "longer than \(CatalogLimits.textBytes) bytes"
            return fail(CatalogError(.tooLarge, at: place, message), parser)
        }
        text += string
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard failure == nil else { return }
        defer {
            path.removeLast(min(1, path.count))
            isComplete = path.isEmpty
        }
        do throws(CatalogError) {
            if let open = field {
                try product?.set(open.name, to: text, line: open.line)
                field = nil
            } else if isInContainer, elementName == "in_app_purchase", let finished = product {
                guard entries.count < CatalogLimits.entries else {
                    let place = CatalogSource(file: file, line: parser.lineNumber)
                    throw CatalogError(.tooLarge, at: place, "more than \(CatalogLimits.entries) products")
                }
                entries.append(try finished.entry())
                product = nil
            } else if isInContainer, elementName == "family", path.count == Self.container.count + 1 {
                family = nil
            }
        } catch {
            fail(error, parser)
        }
    }

    // The prolog check has already rejected these. This second check protects against a file that changes in between.
    func parser(_ parser: XMLParser, foundInternalEntityDeclarationWithName name: String, value: String?) {
        refuseEntity(parser)
    }

    func parser(
        _ parser: XMLParser, foundExternalEntityDeclarationWithName name: String, publicID: String?, systemID: String?
    ) {
        refuseEntity(parser)
    }

    private func refuseEntity(_ parser: XMLParser) {
        let place = CatalogSource(file: file, line: parser.lineNumber)
        fail(CatalogError(.documentTypeRefused, at: place, "entity declarations are not allowed in a feed"), parser)
    }
}
