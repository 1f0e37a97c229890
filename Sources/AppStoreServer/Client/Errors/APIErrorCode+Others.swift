// HTTP 403: the request is understood and not allowed.
extension APIErrorCode {
    /// SubscriptionExtensionIneligibleError.
    public static let subscriptionExtensionIneligible = Self(rawValue: 4030_004)
    /// SubscriptionMaxExtensionError.
    public static let subscriptionMaxExtension = Self(rawValue: 4030_005)
    /// FamilySharedSubscriptionExtensionIneligibleError.
    public static let familySharedSubscriptionExtensionIneligible = Self(rawValue: 4030_007)
    /// MaximumNumberOfImagesReachedError.
    public static let maximumNumberOfImagesReached = Self(rawValue: 4030_014)
    /// MaximumNumberOfMessagesReachedError.
    public static let maximumNumberOfMessagesReached = Self(rawValue: 4030_016)
    /// MessageNotApprovedError.
    public static let messageNotApproved = Self(rawValue: 4030_017)
    /// ImageNotApprovedError.
    public static let imageNotApproved = Self(rawValue: 4030_018)
    /// ImageInUseError.
    public static let imageInUse = Self(rawValue: 4030_019)
    /// ForbiddenNoPassingTestError.
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
    /// AccountNotFoundError.
    public static let accountNotFound = Self(rawValue: 4040_001)
    /// AccountNotFoundRetryableError.
    public static let accountNotFoundRetryable = Self(rawValue: 4040_002)
    /// AppNotFoundError.
    public static let appNotFound = Self(rawValue: 4040_003)
    /// AppNotFoundRetryableError.
    public static let appNotFoundRetryable = Self(rawValue: 4040_004)
    /// OriginalTransactionIdNotFoundError.
    public static let originalTransactionIdNotFound = Self(rawValue: 4040_005)
    /// OriginalTransactionIdNotFoundRetryableError.
    public static let originalTransactionIdNotFoundRetryable = Self(rawValue: 4040_006)
    /// ServerNotificationUrlNotFoundError.
    public static let serverNotificationUrlNotFound = Self(rawValue: 4040_007)
    /// TestNotificationNotFoundError.
    public static let testNotificationNotFound = Self(rawValue: 4040_008)
    /// StatusRequestNotFoundError.
    public static let statusRequestNotFound = Self(rawValue: 4040_009)
    /// TransactionIdNotFoundError.
    public static let transactionIdNotFound = Self(rawValue: 4040_010)
    /// ImageNotFoundError.
    public static let imageNotFound = Self(rawValue: 4040_014)
    /// MessageNotFoundError.
    public static let messageNotFound = Self(rawValue: 4040_015)
    /// PerformanceTestRunNotFoundError.
    public static let performanceTestRunNotFound = Self(rawValue: 4040_018)
    /// AppTransactionDoesNotExistError.
    public static let appTransactionDoesNotExist = Self(rawValue: 4040_019)
    /// DefaultMessageNotFoundError.
    public static let defaultMessageNotFound = Self(rawValue: 4040_020)
    /// RealtimeUrlNotFoundError.
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
    /// ImageAlreadyExistsError.
    public static let imageAlreadyExists = Self(rawValue: 4090_000)
    /// MessageAlreadyExistsError.
    public static let messageAlreadyExists = Self(rawValue: 4090_001)
    /// RateLimitExceededError.
    public static let rateLimitExceeded = Self(rawValue: 4290_000)
    /// GeneralInternalError.
    public static let generalInternal = Self(rawValue: 5000_000)
    /// GeneralInternalRetryableError.
    public static let generalInternalRetryable = Self(rawValue: 5000_001)

    static let others: [(code: Self, name: String)] = [
        (.imageAlreadyExists, "ImageAlreadyExists"),
        (.messageAlreadyExists, "MessageAlreadyExists"),
        (.rateLimitExceeded, "RateLimitExceeded"),
        (.generalInternal, "GeneralInternal"),
        (.generalInternalRetryable, "GeneralInternalRetryable"),
    ]
}
