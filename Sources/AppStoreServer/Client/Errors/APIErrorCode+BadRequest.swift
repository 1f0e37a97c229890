// HTTP 400: the request is refused as it is.
extension APIErrorCode {
    /// GeneralBadRequestError.
    public static let generalBadRequest = Self(rawValue: 4000_000)
    /// InvalidAppIdentifierError.
    public static let invalidAppIdentifier = Self(rawValue: 4000_002)
    /// InvalidRequestRevisionError.
    public static let invalidRequestRevision = Self(rawValue: 4000_005)
    /// InvalidTransactionIdError.
    public static let invalidTransactionId = Self(rawValue: 4000_006)
    /// InvalidOriginalTransactionIdError.
    public static let invalidOriginalTransactionId = Self(rawValue: 4000_008)
    /// InvalidExtendByDaysError.
    public static let invalidExtendByDays = Self(rawValue: 4000_009)
    /// InvalidExtendReasonCodeError.
    public static let invalidExtendReasonCode = Self(rawValue: 4000_010)
    /// InvalidRequestIdentifierError.
    public static let invalidRequestIdentifier = Self(rawValue: 4000_011)
    /// StartDateTooFarInPastError.
    public static let startDateTooFarInPast = Self(rawValue: 4000_012)
    /// StartDateAfterEndDateError: or equal.
    public static let startDateAfterEndDate = Self(rawValue: 4000_013)
    /// InvalidPaginationTokenError.
    public static let invalidPaginationToken = Self(rawValue: 4000_014)
    /// InvalidStartDateError.
    public static let invalidStartDate = Self(rawValue: 4000_015)
    /// InvalidEndDateError.
    public static let invalidEndDate = Self(rawValue: 4000_016)
    /// PaginationTokenExpiredError.
    public static let paginationTokenExpired = Self(rawValue: 4000_017)
    /// InvalidNotificationTypeError.
    public static let invalidNotificationType = Self(rawValue: 4000_018)
    /// MultipleFiltersSuppliedError.
    public static let multipleFiltersSupplied = Self(rawValue: 4000_019)
    /// InvalidTestNotificationTokenError.
    public static let invalidTestNotificationToken = Self(rawValue: 4000_020)
    /// InvalidSortError.
    public static let invalidSort = Self(rawValue: 4000_021)
    /// InvalidProductTypeError.
    public static let invalidProductType = Self(rawValue: 4000_022)
    /// InvalidProductIdError.
    public static let invalidProductId = Self(rawValue: 4000_023)
    /// InvalidSubscriptionGroupIdentifierError.
    public static let invalidSubscriptionGroupIdentifier = Self(rawValue: 4000_024)
    /// InvalidExcludeRevokedError.
    public static let invalidExcludeRevoked = Self(rawValue: 4000_025)
    /// InvalidInAppOwnershipTypeError.
    public static let invalidInAppOwnershipType = Self(rawValue: 4000_026)
    /// InvalidEmptyStorefrontCountryCodeListError.
    public static let invalidEmptyStorefrontCountryCodeList = Self(rawValue: 4000_027)
    /// InvalidStorefrontCountryCodeError.
    public static let invalidStorefrontCountryCode = Self(rawValue: 4000_028)
    /// InvalidRevokedError.
    public static let invalidRevoked = Self(rawValue: 4000_030)
    /// InvalidStatusError.
    public static let invalidStatus = Self(rawValue: 4000_031)
    /// InvalidAccountTenureError.
    public static let invalidAccountTenure = Self(rawValue: 4000_032)
    /// InvalidAppAccountTokenError.
    public static let invalidAppAccountToken = Self(rawValue: 4000_033)
    /// InvalidConsumptionStatusError.
    public static let invalidConsumptionStatus = Self(rawValue: 4000_034)
    /// InvalidCustomerConsentedError.
    public static let invalidCustomerConsented = Self(rawValue: 4000_035)
    /// InvalidDeliveryStatusError.
    public static let invalidDeliveryStatus = Self(rawValue: 4000_036)
    /// InvalidLifetimeDollarsPurchasedError.
    public static let invalidLifetimeDollarsPurchased = Self(rawValue: 4000_037)
    /// InvalidLifetimeDollarsRefundedError.
    public static let invalidLifetimeDollarsRefunded = Self(rawValue: 4000_038)
    /// InvalidPlatformError.
    public static let invalidPlatform = Self(rawValue: 4000_039)
    /// InvalidPlayTimeError.
    public static let invalidPlayTime = Self(rawValue: 4000_040)
    /// InvalidSampleContentProvidedError.
    public static let invalidSampleContentProvided = Self(rawValue: 4000_041)
    /// InvalidUserStatusError.
    public static let invalidUserStatus = Self(rawValue: 4000_042)
    /// InvalidTransactionNotConsumableError: no longer sent.
    public static let invalidTransactionNotConsumable = Self(rawValue: 4000_043)
    /// InvalidTransactionTypeNotSupportedError.
    public static let invalidTransactionTypeNotSupported = Self(rawValue: 4000_047)
    /// AppTransactionIdNotSupportedError.
    public static let appTransactionIdNotSupported = Self(rawValue: 4000_048)
    /// InvalidImageError.
    public static let invalidImage = Self(rawValue: 4000_161)
    /// HeaderTooLongError.
    public static let headerTooLong = Self(rawValue: 4000_162)
    /// BodyTooLongError.
    public static let bodyTooLong = Self(rawValue: 4000_163)
    /// InvalidLocaleError.
    public static let invalidLocale = Self(rawValue: 4000_164)
    /// AltTextTooLongError.
    public static let altTextTooLong = Self(rawValue: 4000_175)
    /// InvalidAppAccountTokenUUIDError.
    public static let invalidAppAccountTokenUUID = Self(rawValue: 4000_183)
    /// FamilyTransactionNotSupportedError.
    public static let familyTransactionNotSupported = Self(rawValue: 4000_185)
    /// TransactionIdIsNotOriginalTransactionIdError.
    public static let transactionIdIsNotOriginalTransactionId = Self(rawValue: 4000_187)
    /// InvalidPerformanceTestRequestError.
    public static let invalidPerformanceTestRequest = Self(rawValue: 4000_211)
    /// InvalidRequestIdError.
    public static let invalidRequestId = Self(rawValue: 4000_212)
    /// ExistingPerformanceTestRunError.
    public static let existingPerformanceTestRun = Self(rawValue: 4000_213)
    /// BadRequestRealtimeUrlError.
    public static let badRequestRealtimeUrl = Self(rawValue: 4000_215)
    /// BadRequestImageSizeError.
    public static let badRequestImageSize = Self(rawValue: 4000_216)
    /// BadRequestTooManyBulletPointsError.
    public static let badRequestTooManyBulletPoints = Self(rawValue: 4000_218)
    /// BadRequestBulletPointTextTooLongError.
    public static let badRequestBulletPointTextTooLong = Self(rawValue: 4000_219)
    /// BadRequestAboveImageRequiresAnImageError.
    public static let badRequestAboveImageRequiresAnImage = Self(rawValue: 4000_224)

    static let badRequests: [(code: Self, name: String)] = [
        (.generalBadRequest, "GeneralBadRequest"),
        (.invalidAppIdentifier, "InvalidAppIdentifier"),
        (.invalidRequestRevision, "InvalidRequestRevision"),
        (.invalidTransactionId, "InvalidTransactionId"),
        (.invalidOriginalTransactionId, "InvalidOriginalTransactionId"),
        (.invalidExtendByDays, "InvalidExtendByDays"),
        (.invalidExtendReasonCode, "InvalidExtendReasonCode"),
        (.invalidRequestIdentifier, "InvalidRequestIdentifier"),
        (.startDateTooFarInPast, "StartDateTooFarInPast"),
        (.startDateAfterEndDate, "StartDateAfterEndDate"),
        (.invalidPaginationToken, "InvalidPaginationToken"),
        (.invalidStartDate, "InvalidStartDate"),
        (.invalidEndDate, "InvalidEndDate"),
        (.paginationTokenExpired, "PaginationTokenExpired"),
        (.invalidNotificationType, "InvalidNotificationType"),
        (.multipleFiltersSupplied, "MultipleFiltersSupplied"),
        (.invalidTestNotificationToken, "InvalidTestNotificationToken"),
        (.invalidSort, "InvalidSort"),
        (.invalidProductType, "InvalidProductType"),
        (.invalidProductId, "InvalidProductId"),
        (.invalidSubscriptionGroupIdentifier, "InvalidSubscriptionGroupIdentifier"),
        (.invalidExcludeRevoked, "InvalidExcludeRevoked"),
        (.invalidInAppOwnershipType, "InvalidInAppOwnershipType"),
        (.invalidEmptyStorefrontCountryCodeList, "InvalidEmptyStorefrontCountryCodeList"),
        (.invalidStorefrontCountryCode, "InvalidStorefrontCountryCode"),
        (.invalidRevoked, "InvalidRevoked"),
        (.invalidStatus, "InvalidStatus"),
        (.invalidAccountTenure, "InvalidAccountTenure"),
        (.invalidAppAccountToken, "InvalidAppAccountToken"),
        (.invalidConsumptionStatus, "InvalidConsumptionStatus"),
        (.invalidCustomerConsented, "InvalidCustomerConsented"),
        (.invalidDeliveryStatus, "InvalidDeliveryStatus"),
        (.invalidLifetimeDollarsPurchased, "InvalidLifetimeDollarsPurchased"),
        (.invalidLifetimeDollarsRefunded, "InvalidLifetimeDollarsRefunded"),
        (.invalidPlatform, "InvalidPlatform"),
        (.invalidPlayTime, "InvalidPlayTime"),
        (.invalidSampleContentProvided, "InvalidSampleContentProvided"),
        (.invalidUserStatus, "InvalidUserStatus"),
        (.invalidTransactionNotConsumable, "InvalidTransactionNotConsumable"),
        (.invalidTransactionTypeNotSupported, "InvalidTransactionTypeNotSupported"),
        (.appTransactionIdNotSupported, "AppTransactionIdNotSupported"),
        (.invalidImage, "InvalidImage"),
        (.headerTooLong, "HeaderTooLong"),
        (.bodyTooLong, "BodyTooLong"),
        (.invalidLocale, "InvalidLocale"),
        (.altTextTooLong, "AltTextTooLong"),
        (.invalidAppAccountTokenUUID, "InvalidAppAccountTokenUUID"),
        (.familyTransactionNotSupported, "FamilyTransactionNotSupported"),
        (.transactionIdIsNotOriginalTransactionId, "TransactionIdIsNotOriginalTransactionId"),
        (.invalidPerformanceTestRequest, "InvalidPerformanceTestRequest"),
        (.invalidRequestId, "InvalidRequestId"),
        (.existingPerformanceTestRun, "ExistingPerformanceTestRun"),
        (.badRequestRealtimeUrl, "BadRequestRealtimeUrl"),
        (.badRequestImageSize, "BadRequestImageSize"),
        (.badRequestTooManyBulletPoints, "BadRequestTooManyBulletPoints"),
        (.badRequestBulletPointTextTooLong, "BadRequestBulletPointTextTooLong"),
        (.badRequestAboveImageRequiresAnImage, "BadRequestAboveImageRequiresAnImage"),
    ]
}
