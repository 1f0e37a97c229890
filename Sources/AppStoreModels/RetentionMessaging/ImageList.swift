/// The images that were uploaded (Retention Messaging API, GetImageListResponse).
public struct GetImageListResponse: AppStoreModel, JSONModel {
    /// One element for each image.
    public var imageIdentifiers: [GetImageListResponseItem]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("imageIdentifiers", &imageIdentifiers)
    }
}

/// One image (Retention Messaging API, GetImageListResponseItem).
public struct GetImageListResponseItem: AppStoreModel, JSONModel {
    /// The UUID text that identifies the image.
    public var imageIdentifier: String?

    /// Whether Apple approved it.
    public var imageState: ImageState?

    /// The size it was uploaded for.
    public var imageSize: ImageSize?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("imageIdentifier", &imageIdentifier)
        try visitor.member("imageState", &imageState)
        try visitor.member("imageSize", &imageSize)
    }
}

/// Whether Apple approved an image (Retention Messaging API, imageState).
public struct ImageState: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Not decided yet.
    public static let pending = Self(rawValue: "PENDING")
    /// Approved.
    public static let approved = Self(rawValue: "APPROVED")
    /// Rejected.
    public static let rejected = Self(rawValue: "REJECTED")

    /// The values this package knows.
    public static let knownValues: [Self] = [.pending, .approved, .rejected]
}

/// The purpose of an image (Retention Messaging API, imageSize).
public struct ImageSize: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The image of a message.
    public static let fullSize = Self(rawValue: "FULL_SIZE")
    /// The image of a point.
    public static let bulletPoint = Self(rawValue: "BULLET_POINT")

    /// The values this package knows.
    public static let knownValues: [Self] = [.fullSize, .bulletPoint]
}
