/// A retention message (Retention Messaging API, UploadMessageRequestBody).
public struct UploadMessageRequestBody: Codable, Hashable, Sendable {
    /// The heading, at most 66 characters.
    public var header: String

    /// The text, at most 144 characters.
    public var body: String

    /// The image of a text-based message.
    public var image: UploadMessageImage?

    /// The position of the heading; above the text if nil.
    public var headerPosition: HeaderPosition?

    /// At most 5 points.
    public var bulletPoints: [BulletPoint]?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        header: String, body: String, image: UploadMessageImage? = nil, headerPosition: HeaderPosition? = nil,
        bulletPoints: [BulletPoint]? = nil
    ) {
        self.header = header
        self.body = body
        self.image = image
        self.headerPosition = headerPosition
        self.bulletPoints = bulletPoints
    }
}

/// The image of a retention message (Retention Messaging API, UploadMessageImage).
public struct UploadMessageImage: Codable, Hashable, Sendable {
    /// The UUID text that identifies the image.
    public var imageIdentifier: String

    /// The alternative text of the image, at most 150 characters.
    public var altText: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(imageIdentifier: String, altText: String) {
        self.imageIdentifier = imageIdentifier
        self.altText = altText
    }
}

/// One point of a retention message (Retention Messaging API, BulletPoint).
public struct BulletPoint: Codable, Hashable, Sendable {
    /// The text, at most 66 characters.
    public var text: String

    /// The UUID text that identifies the image.
    public var imageIdentifier: String

    /// The alternative text of the image, at most 150 characters.
    public var altText: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(text: String, imageIdentifier: String, altText: String) {
        self.text = text
        self.imageIdentifier = imageIdentifier
        self.altText = altText
    }
}

/// The position of the heading of a retention message (Retention Messaging API, headerPosition).
public struct HeaderPosition: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Above the text.
    public static let aboveBody = Self(rawValue: "ABOVE_BODY")
    /// Above the image; the message needs one.
    public static let aboveImage = Self(rawValue: "ABOVE_IMAGE")

    /// The values this package knows.
    public static let knownValues: [Self] = [.aboveBody, .aboveImage]
}
