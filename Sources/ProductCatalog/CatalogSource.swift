/// The place of a fact in a catalog: the file, and the line or the element in it.
///
/// The initializer builds the ``description``, so naming the source of a field costs nothing per purchase.
public struct CatalogSource: Hashable, Sendable, CustomStringConvertible {
    /// The name of the file as the caller gave it.
    public let file: String
    /// The line, counted from 1, for catalogs and feeds. A place in a `.storekit` file has only an element.
    public let line: Int?
    /// The element: `products.com.example.monthly`, `patterns.*.monthly`, `subscriptionGroups[0].subscriptions[2]`,
    /// `in_app_purchase`.
    public let element: String?
    /// For example `catalog.yaml:12: products.com.example.monthly`.
    public let description: String

    /// A place, and its ``description``. Nil members are left out of the text.
    public init(file: String, line: Int? = nil, element: String? = nil) {
        self.file = file
        self.line = line
        self.element = element
        var text = file
        if let line { text += ":\(line)" }
        // The path of the whole file is empty.
        if let element, !element.isEmpty { text += ": \(element)" }
        description = text
    }
}
