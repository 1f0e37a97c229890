public import AppStoreModels

/// Apple's number for a rejected request (App Store Server API, error codes; Reference.md S3).
///
/// The first three digits are the HTTP status. Apple adds codes without notice, and some documented errors have no
/// published number, so unknown codes are preserved.
public struct APIErrorCode: OpenEnum {
    /// The number in `errorCode`.
    public let rawValue: Int64

    /// Any number, including unknown ones.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// The HTTP status: the first three digits.
    public var httpStatus: Int { Int(clamping: rawValue / 10_000) }

    /// Apple's name for the error, without the suffix "Error"; nil for an unknown number.
    public var name: String? { Self.meanings[self]?.name }

    /// Whether Apple named the error "Retryable": the same request may succeed if sent again.
    public var isRetryable: Bool { Self.retryable.contains(self) }

    /// Whether the App Store does not accept the app or its key, so that a request about any other customer would fail too.
    ///
    /// The listed codes of HTTP 403 are about a subscription, an image or a message (Reference.md S3).
    package var concernsApp: Bool {
        switch self {
        case .invalidAppIdentifier, .appNotFound, .appNotFoundRetryable: true
        default: httpStatus == 401 || (httpStatus == 403 && name == nil)
        }
    }

    /// The number, and Apple's name if it is known.
    public var description: String { name.map { "\(rawValue) (\($0))" } ?? "\(rawValue)" }

    /// The known values.
    public static let knownValues: [Self] = knownMeanings.map(\.key)
}

extension APIErrorCode {
    private static let retryable: Set<Self> = [
        .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
        .generalInternalRetryable,
    ]
}

// HTTP 400: the request is not valid.
extension APIErrorCode {
    /// `GeneralBadRequestError`: Apple cannot use the request and gives no reason. Correct the request.
    public static let generalBadRequest = Self(rawValue: 4000_000)
    /// `InvalidAppIdentifierError`: The app identifier is not valid. Correct it.
    public static let invalidAppIdentifier = Self(rawValue: 4000_002)
    /// `InvalidRequestRevisionError`: The revision is not valid. Send the revision of the previous page.
    public static let invalidRequestRevision = Self(rawValue: 4000_005)
    /// `InvalidTransactionIdError`: The transaction id is not valid. Send an id from the App Store, as text.
    public static let invalidTransactionId = Self(rawValue: 4000_006)
    /// `InvalidOriginalTransactionIdError`: The original transaction id is not valid. Send an id from the App Store, as
    /// text.
    public static let invalidOriginalTransactionId = Self(rawValue: 4000_008)
    /// `InvalidExtendByDaysError`: The number of days is not valid. Send a number in Apple's documented range.
    public static let invalidExtendByDays = Self(rawValue: 4000_009)
    /// `InvalidExtendReasonCodeError`: The reason of the extension is not valid. Send one of the documented values.
    public static let invalidExtendReasonCode = Self(rawValue: 4000_010)
    /// `InvalidRequestIdentifierError`: The request identifier is not valid. Send one of at most 128 characters.
    public static let invalidRequestIdentifier = Self(rawValue: 4000_011)
    /// `StartDateTooFarInPastError`: The start date is before the oldest notification that Apple keeps. Send a later
    /// one.
    public static let startDateTooFarInPast = Self(rawValue: 4000_012)
    /// `StartDateAfterEndDateError`: The start date is not before the end date. Send an earlier one.
    public static let startDateAfterEndDate = Self(rawValue: 4000_013)
    /// `InvalidPaginationTokenError`: The pagination token is not valid. Send the token of the previous page, or start
    /// over.
    public static let invalidPaginationToken = Self(rawValue: 4000_014)
    /// `InvalidStartDateError`: The start date is not valid. Send milliseconds since 1970-01-01 00:00 UTC.
    public static let invalidStartDate = Self(rawValue: 4000_015)
    /// `InvalidEndDateError`: The end date is not valid. Send milliseconds since 1970-01-01 00:00 UTC.
    public static let invalidEndDate = Self(rawValue: 4000_016)
    /// `PaginationTokenExpiredError`: The pagination token has expired. Start over with the first page.
    public static let paginationTokenExpired = Self(rawValue: 4000_017)
    /// `InvalidNotificationTypeError`: The notification type or subtype is not valid. Send a documented pair.
    public static let invalidNotificationType = Self(rawValue: 4000_018)
    /// `MultipleFiltersSuppliedError`: The request has both a transaction id and a notification type. Send only one.
    public static let multipleFiltersSupplied = Self(rawValue: 4000_019)
    /// `InvalidTestNotificationTokenError`: The token of the test notification is not valid. Send the token from the
    /// answer to the request.
    public static let invalidTestNotificationToken = Self(rawValue: 4000_020)
    /// `InvalidSortError`: The order is not valid. Send `ASCENDING` or `DESCENDING`.
    public static let invalidSort = Self(rawValue: 4000_021)
    /// `InvalidProductTypeError`: The product type is not valid. Send one of the documented values.
    public static let invalidProductType = Self(rawValue: 4000_022)
    /// `InvalidProductIdError`: The product id is not valid. Correct it.
    public static let invalidProductId = Self(rawValue: 4000_023)
    /// `InvalidSubscriptionGroupIdentifierError`: The subscription group identifier is not valid. Correct it.
    public static let invalidSubscriptionGroupIdentifier = Self(rawValue: 4000_024)
    /// `InvalidExcludeRevokedError`: The value of `excludeRevoked` is not valid. Send `true` or `false`.
    public static let invalidExcludeRevoked = Self(rawValue: 4000_025)
    /// `InvalidInAppOwnershipTypeError`: The ownership type is not valid. Send `PURCHASED` or `FAMILY_SHARED`.
    public static let invalidInAppOwnershipType = Self(rawValue: 4000_026)
    /// `InvalidEmptyStorefrontCountryCodeListError`: The list of storefronts is empty. Add storefronts, or omit the
    /// list for all of them.
    public static let invalidEmptyStorefrontCountryCodeList = Self(rawValue: 4000_027)
    /// `InvalidStorefrontCountryCodeError`: A storefront is not valid. Send ISO 3166-1 codes of three letters.
    public static let invalidStorefrontCountryCode = Self(rawValue: 4000_028)
    /// `InvalidRevokedError`: The value of `revoked` is not valid. Send `true` or `false`.
    public static let invalidRevoked = Self(rawValue: 4000_030)
    /// `InvalidStatusError`: The subscription status is not valid. Send 1 to 5.
    public static let invalidStatus = Self(rawValue: 4000_031)
    /// `InvalidAccountTenureError`: The account tenure is not valid. Send one of the documented values.
    public static let invalidAccountTenure = Self(rawValue: 4000_032)
    /// `InvalidAppAccountTokenError`: The app account token is not valid. Send a UUID, or an empty string for none.
    public static let invalidAppAccountToken = Self(rawValue: 4000_033)
    /// `InvalidConsumptionStatusError`: The consumption status is not valid. Send one of the documented values.
    public static let invalidConsumptionStatus = Self(rawValue: 4000_034)
    /// `InvalidCustomerConsentedError`: The value of `customerConsented` is not valid. Send `true`; without consent, do
    /// not send the request.
    public static let invalidCustomerConsented = Self(rawValue: 4000_035)
    /// `InvalidDeliveryStatusError`: The delivery status is not valid. Send one of the documented values.
    public static let invalidDeliveryStatus = Self(rawValue: 4000_036)
    /// `InvalidLifetimeDollarsPurchasedError`: The amount purchased is not valid. Send one of the documented ranges.
    public static let invalidLifetimeDollarsPurchased = Self(rawValue: 4000_037)
    /// `InvalidLifetimeDollarsRefundedError`: The amount refunded is not valid. Send one of the documented ranges.
    public static let invalidLifetimeDollarsRefunded = Self(rawValue: 4000_038)
    /// `InvalidPlatformError`: The platform is not valid. Send one of the documented values.
    public static let invalidPlatform = Self(rawValue: 4000_039)
    /// `InvalidPlayTimeError`: The play time is not valid. Send one of the documented ranges.
    public static let invalidPlayTime = Self(rawValue: 4000_040)
    /// `InvalidSampleContentProvidedError`: The value of `sampleContentProvided` is not valid. Send `true` or `false`.
    public static let invalidSampleContentProvided = Self(rawValue: 4000_041)
    /// `InvalidUserStatusError`: The user status is not valid. Send one of the documented values.
    public static let invalidUserStatus = Self(rawValue: 4000_042)
    /// `InvalidTransactionNotConsumableError`: The transaction is not a consumable. Apple no longer sends this error.
    public static let invalidTransactionNotConsumable = Self(rawValue: 4000_043)
    /// `InvalidTransactionTypeNotSupportedError`: The call does not support this product type. Skip such transactions.
    public static let invalidTransactionTypeNotSupported = Self(rawValue: 4000_047)
    /// `AppTransactionIdNotSupportedError`: The call does not support app transaction ids. Send a transaction id.
    public static let appTransactionIdNotSupported = Self(rawValue: 4000_048)
    /// `InvalidImageError`: The image is not valid. Send it in a documented format.
    public static let invalidImage = Self(rawValue: 4000_161)
    /// `HeaderTooLongError`: The header of the message is too long. Shorten it.
    public static let headerTooLong = Self(rawValue: 4000_162)
    /// `BodyTooLongError`: The body of the message is too long. Shorten it.
    public static let bodyTooLong = Self(rawValue: 4000_163)
    /// `InvalidLocaleError`: The locale is not valid. Send one of the documented values.
    public static let invalidLocale = Self(rawValue: 4000_164)
    /// `AltTextTooLongError`: The alternative text of an image is too long. Shorten it.
    public static let altTextTooLong = Self(rawValue: 4000_175)
    /// `InvalidAppAccountTokenUUIDError`: The app account token is not a UUID. Send a UUID.
    public static let invalidAppAccountTokenUUID = Self(rawValue: 4000_183)
    /// `FamilyTransactionNotSupportedError`: The call does not support transactions from Family Sharing. Skip them.
    public static let familyTransactionNotSupported = Self(rawValue: 4000_185)
    /// `TransactionIdIsNotOriginalTransactionIdError`: The transaction is not the first of its purchase. Send the
    /// original transaction id.
    public static let transactionIdIsNotOriginalTransactionId = Self(rawValue: 4000_187)
    /// `InvalidPerformanceTestRequestError`: The request for a performance test is not valid. Correct it.
    public static let invalidPerformanceTestRequest = Self(rawValue: 4000_211)
    /// `InvalidRequestIdError`: The id of the performance test is not valid. Send the id from the answer that started
    /// it.
    public static let invalidRequestId = Self(rawValue: 4000_212)
    /// `ExistingPerformanceTestRunError`: A performance test is running. Wait until it ends.
    public static let existingPerformanceTestRun = Self(rawValue: 4000_213)
    /// `BadRequestRealtimeUrlError`: The URL for real-time messages is not valid. Correct it.
    public static let badRequestRealtimeUrl = Self(rawValue: 4000_215)
    /// `BadRequestImageSizeError`: The image does not have a documented size. Change the image.
    public static let badRequestImageSize = Self(rawValue: 4000_216)
    /// `BadRequestTooManyBulletPointsError`: The message has too many bullet points. Remove some.
    public static let badRequestTooManyBulletPoints = Self(rawValue: 4000_218)
    /// `BadRequestBulletPointTextTooLongError`: The text of a bullet point is too long. Shorten it.
    public static let badRequestBulletPointTextTooLong = Self(rawValue: 4000_219)
    /// `BadRequestAboveImageRequiresAnImageError`: The message has text above an image, but no image. Add an image or
    /// move the text.
    public static let badRequestAboveImageRequiresAnImage = Self(rawValue: 4000_224)
}

// HTTP 403: the request is valid but not allowed.
extension APIErrorCode {
    /// `SubscriptionExtensionIneligibleError`: The state of the subscription does not allow an extension. Skip it.
    public static let subscriptionExtensionIneligible = Self(rawValue: 4030_004)
    /// `SubscriptionMaxExtensionError`: The subscription already has all extensions that Apple allows. Skip it.
    public static let subscriptionMaxExtension = Self(rawValue: 4030_005)
    /// `FamilySharedSubscriptionExtensionIneligibleError`: The subscription is shared with this family member. Extend
    /// the subscription of the buyer.
    public static let familySharedSubscriptionExtensionIneligible = Self(rawValue: 4030_007)
    /// `MaximumNumberOfImagesReachedError`: The app already has the maximum number of images. Delete one first.
    public static let maximumNumberOfImagesReached = Self(rawValue: 4030_014)
    /// `MaximumNumberOfMessagesReachedError`: The app already has the maximum number of messages. Delete one first.
    public static let maximumNumberOfMessagesReached = Self(rawValue: 4030_016)
    /// `MessageNotApprovedError`: Apple has not approved the message. Wait for approval, or use another one.
    public static let messageNotApproved = Self(rawValue: 4030_017)
    /// `ImageNotApprovedError`: Apple has not approved the image. Wait for approval, or use another one.
    public static let imageNotApproved = Self(rawValue: 4030_018)
    /// `ImageInUseError`: A message uses the image. Delete the message first.
    public static let imageInUse = Self(rawValue: 4030_019)
    /// `ForbiddenNoPassingTestError`: The URL for real-time messages has passed no performance test. Run one first.
    public static let forbiddenNoPassingTest = Self(rawValue: 4030_026)
}

// HTTP 404: an object of the request does not exist.
extension APIErrorCode {
    /// `AccountNotFoundError`: The customer's account does not exist. Do not query it again.
    public static let accountNotFound = Self(rawValue: 4040_001)
    /// `AccountNotFoundRetryableError`: The customer's account was temporarily not found. Try again.
    public static let accountNotFoundRetryable = Self(rawValue: 4040_002)
    /// `AppNotFoundError`: The app does not exist. Check the bundle id and the Apple ID.
    public static let appNotFound = Self(rawValue: 4040_003)
    /// `AppNotFoundRetryableError`: The app was temporarily not found. Try again.
    public static let appNotFoundRetryable = Self(rawValue: 4040_004)
    /// `OriginalTransactionIdNotFoundError`: The original transaction id does not exist in this environment. Check the
    /// id, and query the other environment.
    public static let originalTransactionIdNotFound = Self(rawValue: 4040_005)
    /// `OriginalTransactionIdNotFoundRetryableError`: The original transaction id was temporarily not found. Try again.
    public static let originalTransactionIdNotFoundRetryable = Self(rawValue: 4040_006)
    /// `ServerNotificationUrlNotFoundError`: The app has no URL for notifications in this environment. Set one in App
    /// Store Connect.
    public static let serverNotificationUrlNotFound = Self(rawValue: 4040_007)
    /// `TestNotificationNotFoundError`: The test notification does not exist, or does not exist yet. Check the token,
    /// or try again later.
    public static let testNotificationNotFound = Self(rawValue: 4040_008)
    /// `StatusRequestNotFoundError`: The request for a mass extension does not exist. Check its identifier and the
    /// product id.
    public static let statusRequestNotFound = Self(rawValue: 4040_009)
    /// `TransactionIdNotFoundError`: The transaction id does not exist in this environment. Check the id, and query the
    /// other environment.
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
}

// HTTP 409, 429 and 500.
extension APIErrorCode {
    /// `ImageAlreadyExistsError`: An image with this identifier exists. Use another identifier.
    public static let imageAlreadyExists = Self(rawValue: 4090_000)
    /// `MessageAlreadyExistsError`: A message with this identifier exists. Use another identifier.
    public static let messageAlreadyExists = Self(rawValue: 4090_001)
    /// `RateLimitExceededError`: Too many requests. Wait until ``AppStoreServerAPIError/retryAfter``.
    public static let rateLimitExceeded = Self(rawValue: 4290_000)
    /// `GeneralInternalError`: An internal error at Apple. Try again later.
    public static let generalInternal = Self(rawValue: 5000_000)
    /// `GeneralInternalRetryableError`: An internal error at Apple. Try again.
    public static let generalInternalRetryable = Self(rawValue: 5000_001)
}
