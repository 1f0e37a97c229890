/// Where a fact of the catalogue stands: the file, and the line or the element in it.
///
/// The ``description`` is made once, so that naming the source of a field costs nothing per purchase.
public struct CatalogSource: Hashable, Sendable, CustomStringConvertible {
    /// The file as the caller named it.
    public let file: String
    /// Line from 1, for catalogues and feeds; a `.storekit` file is named by element alone.
    public let line: Int?
    /// The element: `products.com.example.monthly`, `patterns.*.monthly`, `subscriptionGroups[0].subscriptions[2]`,
    /// `in_app_purchase`.
    public let element: String?
    /// `catalog.yaml:12: products.com.example.monthly`.
    public let description: String

    public init(file: String, line: Int? = nil, element: String? = nil) {
        self.file = file
        self.line = line
        self.element = element
        var text = file
        if let line { text += ":\(line)" }
        if let element { text += ": \(element)" }
        description = text
    }
}
