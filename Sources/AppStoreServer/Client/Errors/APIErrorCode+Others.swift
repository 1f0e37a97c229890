// HTTP 403: the request is understood and not allowed.
extension APIErrorCode {
    /// `SubscriptionExtensionIneligibleError`: The state of the subscription does not allow an extension. Leave it out.
    public static let subscriptionExtensionIneligible = Self(rawValue: 4030_004)
    /// `SubscriptionMaxExtensionError`: The subscription has had all the extensions that Apple allows. Leave it out.
    public static let subscriptionMaxExtension = Self(rawValue: 4030_005)
    /// `FamilySharedSubscriptionExtensionIneligibleError`: The subscription is shared with this family member. Extend
    /// the one of the family member who bought it.
    public static let familySharedSubscriptionExtensionIneligible = Self(rawValue: 4030_007)
    /// `MaximumNumberOfImagesReachedError`: The app has as many images as Apple allows. Delete one first.
    public static let maximumNumberOfImagesReached = Self(rawValue: 4030_014)
    /// `MaximumNumberOfMessagesReachedError`: The app has as many messages as Apple allows. Delete one first.
    public static let maximumNumberOfMessagesReached = Self(rawValue: 4030_016)
    /// `MessageNotApprovedError`: Apple has not approved the message. Wait for approval, or use another one.
    public static let messageNotApproved = Self(rawValue: 4030_017)
    /// `ImageNotApprovedError`: Apple has not approved the image. Wait for approval, or use another one.
    public static let imageNotApproved = Self(rawValue: 4030_018)
    /// `ImageInUseError`: A message uses the image. Delete the message first.
    public static let imageInUse = Self(rawValue: 4030_019)
    /// `ForbiddenNoPassingTestError`: The URL for real-time messages has passed no performance test. Run one first.
    public static let forbiddenNoPassingTest = Self(rawValue: 4030_026)

    static let forbidden: [(code: Self, name: String)] = [
        (.subscriptionExtensionIneligible, "SubscriptionExtensionIneligible"),
        (.subscriptionMaxExtension, "SubscriptionMaxExtension"),
        (.familySharedSubscriptionExtensionIneligible, "FamilySharedSubscriptionExtensionIneligible"),
        (.maximumNumberOfImagesReached, "MaximumNumberOfImagesReached"),
        (.maximumNumberOfMessagesReached, "MaximumNumberOfMessagesReached"),
        (.messageNotApproved, "MessageNotApproved"),
        (.imageNotApproved, "ImageNotApproved"),
        (.imageInUse, "ImageInUse"),
        (.forbiddenNoPassingTest, "ForbiddenNoPassingTest"),
    ]
}

// HTTP 404: something that the request names does not exist.
extension APIErrorCode {
    /// `AccountNotFoundError`: The customer's account does not exist. Do not ask about it again.
    public static let accountNotFound = Self(rawValue: 4040_001)
    /// `AccountNotFoundRetryableError`: The customer's account was not found for now. Try again.
    public static let accountNotFoundRetryable = Self(rawValue: 4040_002)
    /// `AppNotFoundError`: The app does not exist. Check the bundle id and the Apple ID.
    public static let appNotFound = Self(rawValue: 4040_003)
    /// `AppNotFoundRetryableError`: The app was not found for now. Try again.
    public static let appNotFoundRetryable = Self(rawValue: 4040_004)
    /// `OriginalTransactionIdNotFoundError`: The original transaction id does not exist here. Check the id, and ask the
    /// other environment.
    public static let originalTransactionIdNotFound = Self(rawValue: 4040_005)
    /// `OriginalTransactionIdNotFoundRetryableError`: The original transaction id was not found for now. Try again.
    public static let originalTransactionIdNotFoundRetryable = Self(rawValue: 4040_006)
    /// `ServerNotificationUrlNotFoundError`: The app has no URL for notifications in this environment. Set one in App
    /// Store Connect.
    public static let serverNotificationUrlNotFound = Self(rawValue: 4040_007)
    /// `TestNotificationNotFoundError`: The test notification does not exist, or not yet. Check the token, or try again
    /// later.
    public static let testNotificationNotFound = Self(rawValue: 4040_008)
    /// `StatusRequestNotFoundError`: The request for a mass extension does not exist. Check its identifier and the
    /// product id.
    public static let statusRequestNotFound = Self(rawValue: 4040_009)
    /// `TransactionIdNotFoundError`: The transaction id does not exist here. Check the id, and ask the other
    /// environment.
    public static let transactionIdNotFound = Self(rawValue: 4040_010)
    /// `ImageNotFoundError`: The image does not exist. Check its identifier.
    public static let imageNotFound = Self(rawValue: 4040_014)
    /// `MessageNotFoundError`: The message does not exist. Check its identifier.
    public static let messageNotFound = Self(rawValue: 4040_015)
    /// `PerformanceTestRunNotFoundError`: The performance test does not exist. Check its identifier.
    public static let performanceTestRunNotFound = Self(rawValue: 4040_018)
    /// `AppTransactionDoesNotExistError`: The customer has no app transaction. Do not ask for it again.
    public static let appTransactionDoesNotExist = Self(rawValue: 4040_019)
    /// `DefaultMessageNotFoundError`: No default message is set for the product and the locale. Set one first.
    public static let defaultMessageNotFound = Self(rawValue: 4040_020)
    /// `RealtimeUrlNotFoundError`: No URL for real-time messages is set. Set one first.
    public static let realtimeUrlNotFound = Self(rawValue: 4040_021)

    static let notFound: [(code: Self, name: String)] = [
        (.accountNotFound, "AccountNotFound"),
        (.accountNotFoundRetryable, "AccountNotFoundRetryable"),
        (.appNotFound, "AppNotFound"),
        (.appNotFoundRetryable, "AppNotFoundRetryable"),
        (.originalTransactionIdNotFound, "OriginalTransactionIdNotFound"),
        (.originalTransactionIdNotFoundRetryable, "OriginalTransactionIdNotFoundRetryable"),
        (.serverNotificationUrlNotFound, "ServerNotificationUrlNotFound"),
        (.testNotificationNotFound, "TestNotificationNotFound"),
        (.statusRequestNotFound, "StatusRequestNotFound"),
        (.transactionIdNotFound, "TransactionIdNotFound"),
        (.imageNotFound, "ImageNotFound"),
        (.messageNotFound, "MessageNotFound"),
        (.performanceTestRunNotFound, "PerformanceTestRunNotFound"),
        (.appTransactionDoesNotExist, "AppTransactionDoesNotExist"),
        (.defaultMessageNotFound, "DefaultMessageNotFound"),
        (.realtimeUrlNotFound, "RealtimeUrlNotFound"),
    ]
}

// HTTP 409, 429 and 500.
extension APIErrorCode {
    /// `ImageAlreadyExistsError`: An image with this identifier exists. Use another identifier.
    public static let imageAlreadyExists = Self(rawValue: 4090_000)
    /// `MessageAlreadyExistsError`: A message with this identifier exists. Use another identifier.
    public static let messageAlreadyExists = Self(rawValue: 4090_001)
    /// `RateLimitExceededError`: Too many requests. Wait until ``AppStoreServerAPIError/retryAfter``.
    public static let rateLimitExceeded = Self(rawValue: 4290_000)
    /// `GeneralInternalError`: An internal error of Apple's. Try again later.
    public static let generalInternal = Self(rawValue: 5000_000)
    /// `GeneralInternalRetryableError`: An internal error of Apple's. Try again.
    public static let generalInternalRetryable = Self(rawValue: 5000_001)

    static let others: [(code: Self, name: String)] = [
        (.imageAlreadyExists, "ImageAlreadyExists"),
        (.messageAlreadyExists, "MessageAlreadyExists"),
        (.rateLimitExceeded, "RateLimitExceeded"),
        (.generalInternal, "GeneralInternal"),
        (.generalInternalRetryable, "GeneralInternalRetryable"),
    ]
}
