public import AppStoreModels

/// The Retention Messaging API (Reference.md S2.4). Apple answers 404 without a reason to accounts without access.
/// Identifiers of images and messages are UUIDs as text.
extension AppStoreServerAPIClient {
    /// Uploads an image: PNG without transparency. Each identifier can be used only once (4090000).
    /// - Parameters:
    ///   - imageIdentifier: a new UUID.
    ///   - png: the file's bytes.
    ///   - imageSize: the purpose of the image; nil for Apple's default.
    public func uploadImage(_ imageIdentifier: String, png: [UInt8], imageSize: ImageSize? = nil) async throws {
        let query = imageSize.map { [(name: "imageSize", value: $0.rawValue)] } ?? []
        try await pipeline.perform(.uploadImage, imageIdentifier, query: query, png: png)
    }

    /// Deletes an image that no message uses.
    public func deleteImage(_ imageIdentifier: String) async throws {
        try await pipeline.perform(.deleteImage, imageIdentifier)
    }

    /// All images.
    public func getImageList() async throws -> GetImageListResponse {
        try await pipeline.call(.getImageList)
    }

    /// Uploads a message. Each identifier can be used only once (4090001).
    public func uploadMessage(_ messageIdentifier: String, _ message: UploadMessageRequestBody) async throws {
        try await pipeline.perform(.uploadMessage, messageIdentifier, body: message)
    }

    /// Deletes a message.
    public func deleteMessage(_ messageIdentifier: String) async throws {
        try await pipeline.perform(.deleteMessage, messageIdentifier)
    }

    /// All messages.
    public func getMessageList() async throws -> GetMessageListResponse {
        try await pipeline.call(.getMessageList)
    }

    /// Sets the default message for a locale such as `en-US`. Apple shows it if the developer's server returns no message.
    public func configureDefaultMessage(
        productId: String, locale: String, _ request: DefaultConfigurationRequest
    ) async throws {
        try await pipeline.perform(.configureDefaultMessage, productId, locale, body: request)
    }

    /// Deletes the default message.
    public func deleteDefaultMessage(productId: String, locale: String) async throws {
        try await pipeline.perform(.deleteDefaultMessage, productId, locale)
    }

    /// The default message.
    public func getDefaultMessage(productId: String, locale: String) async throws -> DefaultConfigurationResponse {
        try await pipeline.call(.getDefaultMessage, productId, locale)
    }

    /// Sets the URL from which Apple requests a message. In production, the server must have passed the test (4030026).
    public func configureRealtimeURL(_ request: RealtimeUrlRequest) async throws {
        try await pipeline.perform(.configureRealtimeURL, body: request)
    }

    /// Deletes the URL.
    public func deleteRealtimeURL() async throws {
        try await pipeline.perform(.deleteRealtimeURL)
    }

    /// The URL from which Apple requests a message.
    public func getRealtimeURL() async throws -> RealtimeUrlResponse {
        try await pipeline.call(.getRealtimeURL)
    }

    /// Starts a performance test of the developer's server. Sandbox only.
    public func initiatePerformanceTest(_ request: PerformanceTestRequest) async throws -> PerformanceTestResponse {
        try await pipeline.call(.initiatePerformanceTest, body: request)
    }

    /// The result of a performance test of the developer's server.
    public func getPerformanceTestResults(_ requestId: String) async throws -> PerformanceTestResultResponse {
        try await pipeline.call(.getPerformanceTestResults, requestId)
    }
}
