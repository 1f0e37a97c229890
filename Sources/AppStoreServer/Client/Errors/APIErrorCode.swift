public import AppStoreModels

/// Apple's number for a rejected request (App Store Server API, error codes; Reference.md S3).
///
/// The first three digits are the HTTP status. Apple adds codes without notice, and some documented errors have no
/// published number, so unknown codes are preserved.
public struct APIErrorCode: OpenEnum {
    typealias Meaning = (name: String, explanation: String)

    /// The number in `errorCode`.
    public let rawValue: Int64
    /// Nil for a number that was read.
    private let stated: Meaning?

    /// Any number, including unknown ones.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
        stated = nil
    }

    /// A known code.
    /// - Parameters:
    ///   - rawValue: the number.
    ///   - name: Apple's name for the error, without the suffix "Error".
    ///   - explanation: one sentence with the fault and what to do.
    private init(_ rawValue: Int64, _ name: String, _ explanation: String) {
        self.rawValue = rawValue
        stated = (name, explanation)
    }

    /// Nil for an unknown number.
    var meaning: Meaning? { stated ?? Self.known[rawValue]?.stated }

    private static let known = Dictionary(knownValues.map { ($0.rawValue, $0) }) { first, _ in first }

    /// Codes with the same number are equal.
    public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// The HTTP status: the first three digits.
    public var httpStatus: Int { Int(clamping: rawValue / 10_000) }

    /// Apple's name for the error, without the suffix "Error"; nil for an unknown number.
    public var name: String? { meaning?.name }

    /// Whether Apple named the error "Retryable": the same request may succeed if sent again.
    public var isRetryable: Bool { name?.hasSuffix("Retryable") == true }

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
    public static let knownValues: [Self] = [
        .generalBadRequest, .invalidAppIdentifier, .invalidRequestRevision, .invalidTransactionId,
        .invalidOriginalTransactionId, .invalidExtendByDays, .invalidExtendReasonCode, .invalidRequestIdentifier,
        .startDateTooFarInPast, .startDateAfterEndDate, .invalidPaginationToken, .invalidStartDate, .invalidEndDate,
        .paginationTokenExpired, .invalidNotificationType, .multipleFiltersSupplied, .invalidTestNotificationToken,
        .invalidSort, .invalidProductType, .invalidProductId, .invalidSubscriptionGroupIdentifier,
        .invalidExcludeRevoked, .invalidInAppOwnershipType, .invalidEmptyStorefrontCountryCodeList,
        .invalidStorefrontCountryCode, .invalidRevoked, .invalidStatus, .invalidAccountTenure, .invalidAppAccountToken,
        .invalidConsumptionStatus, .invalidCustomerConsented, .invalidDeliveryStatus, .invalidLifetimeDollarsPurchased,
        .invalidLifetimeDollarsRefunded, .invalidPlatform, .invalidPlayTime, .invalidSampleContentProvided,
        .invalidUserStatus, .invalidTransactionNotConsumable, .invalidTransactionTypeNotSupported,
        .appTransactionIdNotSupported, .invalidImage, .headerTooLong, .bodyTooLong, .invalidLocale, .altTextTooLong,
        .invalidAppAccountTokenUUID, .familyTransactionNotSupported, .transactionIdIsNotOriginalTransactionId,
        .invalidPerformanceTestRequest, .invalidRequestId, .existingPerformanceTestRun, .badRequestRealtimeUrl,
        .badRequestImageSize, .badRequestTooManyBulletPoints, .badRequestBulletPointTextTooLong,
        .badRequestAboveImageRequiresAnImage, .subscriptionExtensionIneligible, .subscriptionMaxExtension,
        .familySharedSubscriptionExtensionIneligible, .maximumNumberOfImagesReached, .maximumNumberOfMessagesReached,
        .messageNotApproved, .imageNotApproved, .imageInUse, .forbiddenNoPassingTest, .accountNotFound,
        .accountNotFoundRetryable, .appNotFound, .appNotFoundRetryable, .originalTransactionIdNotFound,
        .originalTransactionIdNotFoundRetryable, .serverNotificationUrlNotFound, .testNotificationNotFound,
        .statusRequestNotFound, .transactionIdNotFound, .imageNotFound, .messageNotFound, .performanceTestRunNotFound,
        .appTransactionDoesNotExist, .defaultMessageNotFound, .realtimeUrlNotFound, .imageAlreadyExists,
        .messageAlreadyExists, .rateLimitExceeded, .generalInternal, .generalInternalRetryable,
    ]
}

extension APIErrorCode {
    // MARK: HTTP 400: the request is not valid

    /// `GeneralBadRequestError`: Apple cannot use the request and gives no reason. Correct the request.
    public static let generalBadRequest = Self(
        4000_000, "GeneralBadRequest", "Apple cannot use the request and gives no reason: correct the request.")
    /// `InvalidAppIdentifierError`: The app identifier is not valid. Correct it.
    public static let invalidAppIdentifier = Self(
        4000_002, "InvalidAppIdentifier", "The app identifier is not valid: correct it.")
    /// `InvalidRequestRevisionError`: The revision is not valid. Send the revision of the previous page.
    public static let invalidRequestRevision = Self(
        4000_005, "InvalidRequestRevision", "The revision is not valid: send the revision of the previous page.")
    /// `InvalidTransactionIdError`: The transaction id is not valid. Send an id from the App Store, as text.
    public static let invalidTransactionId = Self(
        4000_006, "InvalidTransactionId", "The transaction id is not valid: send an id from the App Store, as text.")
    /// `InvalidOriginalTransactionIdError`: The original transaction id is not valid. Send an id from the App Store, as
    /// text.
    public static let invalidOriginalTransactionId = Self(
        4000_008, "InvalidOriginalTransactionId",
        "The original transaction id is not valid: send an id from the App Store, as text.")
    /// `InvalidExtendByDaysError`: The number of days is not valid. Send a number in Apple's documented range.
    public static let invalidExtendByDays = Self(
        4000_009, "InvalidExtendByDays", "The number of days is not valid: send a number in Apple's documented range.")
    /// `InvalidExtendReasonCodeError`: The reason of the extension is not valid. Send one of the documented values.
    public static let invalidExtendReasonCode = Self(
        4000_010, "InvalidExtendReasonCode",
        "The reason of the extension is not valid: send one of the documented values.")
    /// `InvalidRequestIdentifierError`: The request identifier is not valid. Send one of at most 128 characters.
    public static let invalidRequestIdentifier = Self(
        4000_011, "InvalidRequestIdentifier", "The request identifier is not valid: send one of at most 128 characters."
    )
    /// `StartDateTooFarInPastError`: The start date is before the oldest notification that Apple keeps. Send a later
    /// one.
    public static let startDateTooFarInPast = Self(
        4000_012, "StartDateTooFarInPast",
        "The start date is before the oldest notification that Apple keeps: send a later one.")
    /// `StartDateAfterEndDateError`: The start date is not before the end date. Send an earlier one.
    public static let startDateAfterEndDate = Self(
        4000_013, "StartDateAfterEndDate", "The start date is not before the end date: send an earlier one.")
    /// `InvalidPaginationTokenError`: The pagination token is not valid. Send the token of the previous page, or start
    /// over.
    public static let invalidPaginationToken = Self(
        4000_014, "InvalidPaginationToken",
        "The pagination token is not valid: send the token of the previous page, or start over.")
    /// `InvalidStartDateError`: The start date is not valid. Send milliseconds since 1970-01-01 00:00 UTC.
    public static let invalidStartDate = Self(
        4000_015, "InvalidStartDate", "The start date is not valid: send milliseconds since 1970-01-01 00:00 UTC.")
    /// `InvalidEndDateError`: The end date is not valid. Send milliseconds since 1970-01-01 00:00 UTC.
    public static let invalidEndDate = Self(
        4000_016, "InvalidEndDate", "The end date is not valid: send milliseconds since 1970-01-01 00:00 UTC.")
    /// `PaginationTokenExpiredError`: The pagination token has expired. Start over with the first page.
    public static let paginationTokenExpired = Self(
        4000_017, "PaginationTokenExpired", "The pagination token has expired: start over with the first page.")
    /// `InvalidNotificationTypeError`: The notification type or subtype is not valid. Send a documented pair.
    public static let invalidNotificationType = Self(
        4000_018, "InvalidNotificationType", "The notification type or subtype is not valid: send a documented pair.")
    /// `MultipleFiltersSuppliedError`: The request has both a transaction id and a notification type. Send only one.
    public static let multipleFiltersSupplied = Self(
        4000_019, "MultipleFiltersSupplied",
        "The request has both a transaction id and a notification type: send only one.")
    /// `InvalidTestNotificationTokenError`: The token of the test notification is not valid. Send the token from the
    /// answer to the request.
    public static let invalidTestNotificationToken = Self(
        4000_020, "InvalidTestNotificationToken",
        "The token of the test notification is not valid: send the token from the answer to the request.")
    /// `InvalidSortError`: The order is not valid. Send `ASCENDING` or `DESCENDING`.
    public static let invalidSort = Self(
        4000_021, "InvalidSort", "The order is not valid: send ASCENDING or DESCENDING.")
    /// `InvalidProductTypeError`: The product type is not valid. Send one of the documented values.
    public static let invalidProductType = Self(
        4000_022, "InvalidProductType", "The product type is not valid: send one of the documented values.")
    /// `InvalidProductIdError`: The product id is not valid. Correct it.
    public static let invalidProductId = Self(4000_023, "InvalidProductId", "The product id is not valid: correct it.")
    /// `InvalidSubscriptionGroupIdentifierError`: The subscription group identifier is not valid. Correct it.
    public static let invalidSubscriptionGroupIdentifier = Self(
        4000_024, "InvalidSubscriptionGroupIdentifier", "The subscription group identifier is not valid: correct it.")
    /// `InvalidExcludeRevokedError`: The value of `excludeRevoked` is not valid. Send `true` or `false`.
    public static let invalidExcludeRevoked = Self(
        4000_025, "InvalidExcludeRevoked", "The value of excludeRevoked is not valid: send true or false.")
    /// `InvalidInAppOwnershipTypeError`: The ownership type is not valid. Send `PURCHASED` or `FAMILY_SHARED`.
    public static let invalidInAppOwnershipType = Self(
        4000_026, "InvalidInAppOwnershipType", "The ownership type is not valid: send PURCHASED or FAMILY_SHARED.")
    /// `InvalidEmptyStorefrontCountryCodeListError`: The list of storefronts is empty. Add storefronts, or omit the
    /// list for all of them.
    public static let invalidEmptyStorefrontCountryCodeList = Self(
        4000_027, "InvalidEmptyStorefrontCountryCodeList",
        "The list of storefronts is empty: add storefronts, or omit the list for all of them.")
    /// `InvalidStorefrontCountryCodeError`: A storefront is not valid. Send ISO 3166-1 codes of three letters.
    public static let invalidStorefrontCountryCode = Self(
        4000_028, "InvalidStorefrontCountryCode", "A storefront is not valid: send ISO 3166-1 codes of three letters.")
    /// `InvalidRevokedError`: The value of `revoked` is not valid. Send `true` or `false`.
    public static let invalidRevoked = Self(
        4000_030, "InvalidRevoked", "The value of revoked is not valid: send true or false.")
    /// `InvalidStatusError`: The subscription status is not valid. Send 1 to 5.
    public static let invalidStatus = Self(
        4000_031, "InvalidStatus", "The subscription status is not valid: send 1 to 5.")
    /// `InvalidAccountTenureError`: The account tenure is not valid. Send one of the documented values.
    public static let invalidAccountTenure = Self(
        4000_032, "InvalidAccountTenure", "The account tenure is not valid: send one of the documented values.")
    /// `InvalidAppAccountTokenError`: The app account token is not valid. Send a UUID, or an empty string for none.
    public static let invalidAppAccountToken = Self(
        4000_033, "InvalidAppAccountToken",
        "The app account token is not valid: send a UUID, or an empty string for none.")
    /// `InvalidConsumptionStatusError`: The consumption status is not valid. Send one of the documented values.
    public static let invalidConsumptionStatus = Self(
        4000_034, "InvalidConsumptionStatus", "The consumption status is not valid: send one of the documented values.")
    /// `InvalidCustomerConsentedError`: The value of `customerConsented` is not valid. Send `true`; without consent, do
    /// not send the request.
    public static let invalidCustomerConsented = Self(
        4000_035, "InvalidCustomerConsented",
        "The value of customerConsented is not valid: send true; without consent, do not send the request.")
    /// `InvalidDeliveryStatusError`: The delivery status is not valid. Send one of the documented values.
    public static let invalidDeliveryStatus = Self(
        4000_036, "InvalidDeliveryStatus", "The delivery status is not valid: send one of the documented values.")
    /// `InvalidLifetimeDollarsPurchasedError`: The amount purchased is not valid. Send one of the documented ranges.
    public static let invalidLifetimeDollarsPurchased = Self(
        4000_037, "InvalidLifetimeDollarsPurchased",
        "The amount purchased is not valid: send one of the documented ranges.")
    /// `InvalidLifetimeDollarsRefundedError`: The amount refunded is not valid. Send one of the documented ranges.
    public static let invalidLifetimeDollarsRefunded = Self(
        4000_038, "InvalidLifetimeDollarsRefunded",
        "The amount refunded is not valid: send one of the documented ranges.")
    /// `InvalidPlatformError`: The platform is not valid. Send one of the documented values.
    public static let invalidPlatform = Self(
        4000_039, "InvalidPlatform", "The platform is not valid: send one of the documented values.")
    /// `InvalidPlayTimeError`: The play time is not valid. Send one of the documented ranges.
    public static let invalidPlayTime = Self(
        4000_040, "InvalidPlayTime", "The play time is not valid: send one of the documented ranges.")
    /// `InvalidSampleContentProvidedError`: The value of `sampleContentProvided` is not valid. Send `true` or `false`.
    public static let invalidSampleContentProvided = Self(
        4000_041, "InvalidSampleContentProvided", "The value of sampleContentProvided is not valid: send true or false."
    )
    /// `InvalidUserStatusError`: The user status is not valid. Send one of the documented values.
    public static let invalidUserStatus = Self(
        4000_042, "InvalidUserStatus", "The user status is not valid: send one of the documented values.")
    /// `InvalidTransactionNotConsumableError`: The transaction is not a consumable. Apple no longer sends this error.
    public static let invalidTransactionNotConsumable = Self(
        4000_043, "InvalidTransactionNotConsumable",
        "The transaction is not a consumable: Apple no longer sends this error.")
    /// `InvalidTransactionTypeNotSupportedError`: The call does not support this product type. Skip such transactions.
    public static let invalidTransactionTypeNotSupported = Self(
        4000_047, "InvalidTransactionTypeNotSupported",
        "The call does not support this product type: skip such transactions.")
    /// `AppTransactionIdNotSupportedError`: The call does not support app transaction ids. Send a transaction id.
    public static let appTransactionIdNotSupported = Self(
        4000_048, "AppTransactionIdNotSupported",
        "The call does not support app transaction ids: send a transaction id.")
    /// `InvalidImageError`: The image is not valid. Send it in a documented format.
    public static let invalidImage = Self(
        4000_161, "InvalidImage", "The image is not valid: send it in a documented format.")
    /// `HeaderTooLongError`: The header of the message is too long. Shorten it.
    public static let headerTooLong = Self(
        4000_162, "HeaderTooLong", "The header of the message is too long: shorten it.")
    /// `BodyTooLongError`: The body of the message is too long. Shorten it.
    public static let bodyTooLong = Self(4000_163, "BodyTooLong", "The body of the message is too long: shorten it.")
    /// `InvalidLocaleError`: The locale is not valid. Send one of the documented values.
    public static let invalidLocale = Self(
        4000_164, "InvalidLocale", "The locale is not valid: send one of the documented values.")
    /// `AltTextTooLongError`: The alternative text of an image is too long. Shorten it.
    public static let altTextTooLong = Self(
        4000_175, "AltTextTooLong", "The alternative text of an image is too long: shorten it.")
    /// `InvalidAppAccountTokenUUIDError`: The app account token is not a UUID. Send a UUID.
    public static let invalidAppAccountTokenUUID = Self(
        4000_183, "InvalidAppAccountTokenUUID", "The app account token is not a UUID: send a UUID.")
    /// `FamilyTransactionNotSupportedError`: The call does not support transactions from Family Sharing. Skip them.
    public static let familyTransactionNotSupported = Self(
        4000_185, "FamilyTransactionNotSupported",
        "The call does not support transactions from Family Sharing: skip them.")
    /// `TransactionIdIsNotOriginalTransactionIdError`: The transaction is not the first of its purchase. Send the
    /// original transaction id.
    public static let transactionIdIsNotOriginalTransactionId = Self(
        4000_187, "TransactionIdIsNotOriginalTransactionId",
        "The transaction is not the first of its purchase: send the original transaction id.")
    /// `InvalidPerformanceTestRequestError`: The request for a performance test is not valid. Correct it.
    public static let invalidPerformanceTestRequest = Self(
        4000_211, "InvalidPerformanceTestRequest", "The request for a performance test is not valid: correct it.")
    /// `InvalidRequestIdError`: The id of the performance test is not valid. Send the id from the answer that started
    /// it.
    public static let invalidRequestId = Self(
        4000_212, "InvalidRequestId",
        "The id of the performance test is not valid: send the id from the answer that started it.")
    /// `ExistingPerformanceTestRunError`: A performance test is running. Wait until it ends.
    public static let existingPerformanceTestRun = Self(
        4000_213, "ExistingPerformanceTestRun", "A performance test is running: wait until it ends.")
    /// `BadRequestRealtimeUrlError`: The URL for real-time messages is not valid. Correct it.
    public static let badRequestRealtimeUrl = Self(
        4000_215, "BadRequestRealtimeUrl", "The URL for real-time messages is not valid: correct it.")
    /// `BadRequestImageSizeError`: The image does not have a documented size. Change the image.
    public static let badRequestImageSize = Self(
        4000_216, "BadRequestImageSize", "The image does not have a documented size: change the image.")
    /// `BadRequestTooManyBulletPointsError`: The message has too many bullet points. Remove some.
    public static let badRequestTooManyBulletPoints = Self(
        4000_218, "BadRequestTooManyBulletPoints", "The message has too many bullet points: remove some.")
    /// `BadRequestBulletPointTextTooLongError`: The text of a bullet point is too long. Shorten it.
    public static let badRequestBulletPointTextTooLong = Self(
        4000_219, "BadRequestBulletPointTextTooLong", "The text of a bullet point is too long: shorten it.")
    /// `BadRequestAboveImageRequiresAnImageError`: The message has text above an image, but no image. Add an image or
    /// move the text.
    public static let badRequestAboveImageRequiresAnImage = Self(
        4000_224, "BadRequestAboveImageRequiresAnImage",
        "The message has text above an image, but no image: add an image or move the text.")

    // MARK: HTTP 403: the request is valid but not allowed

    /// `SubscriptionExtensionIneligibleError`: The state of the subscription does not allow an extension. Skip it.
    public static let subscriptionExtensionIneligible = Self(
        4030_004, "SubscriptionExtensionIneligible",
        "The state of the subscription does not allow an extension: skip it.")
    /// `SubscriptionMaxExtensionError`: The subscription already has all extensions that Apple allows. Skip it.
    public static let subscriptionMaxExtension = Self(
        4030_005, "SubscriptionMaxExtension", "The subscription already has all extensions that Apple allows: skip it.")
    /// `FamilySharedSubscriptionExtensionIneligibleError`: The subscription is shared with this family member. Extend
    /// the subscription of the buyer.
    public static let familySharedSubscriptionExtensionIneligible = Self(
        4030_007, "FamilySharedSubscriptionExtensionIneligible",
        "The subscription is shared with this family member: extend the subscription of the buyer.")
    /// `MaximumNumberOfImagesReachedError`: The app already has the maximum number of images. Delete one first.
    public static let maximumNumberOfImagesReached = Self(
        4030_014, "MaximumNumberOfImagesReached", "The app already has the maximum number of images: delete one first.")
    /// `MaximumNumberOfMessagesReachedError`: The app already has the maximum number of messages. Delete one first.
    public static let maximumNumberOfMessagesReached = Self(
        4030_016, "MaximumNumberOfMessagesReached",
        "The app already has the maximum number of messages: delete one first.")
    /// `MessageNotApprovedError`: Apple has not approved the message. Wait for approval, or use another one.
    public static let messageNotApproved = Self(
        4030_017, "MessageNotApproved", "Apple has not approved the message: wait for approval, or use another one.")
    /// `ImageNotApprovedError`: Apple has not approved the image. Wait for approval, or use another one.
    public static let imageNotApproved = Self(
        4030_018, "ImageNotApproved", "Apple has not approved the image: wait for approval, or use another one.")
    /// `ImageInUseError`: A message uses the image. Delete the message first.
    public static let imageInUse = Self(4030_019, "ImageInUse", "A message uses the image: delete the message first.")
    /// `ForbiddenNoPassingTestError`: The URL for real-time messages has passed no performance test. Run one first.
    public static let forbiddenNoPassingTest = Self(
        4030_026, "ForbiddenNoPassingTest",
        "The URL for real-time messages has passed no performance test: run one first.")

    // MARK: HTTP 404: an object of the request does not exist

    /// `AccountNotFoundError`: The customer's account does not exist. Do not query it again.
    public static let accountNotFound = Self(
        4040_001, "AccountNotFound", "The customer's account does not exist: do not query it again.")
    /// `AccountNotFoundRetryableError`: The customer's account was temporarily not found. Try again.
    public static let accountNotFoundRetryable = Self(
        4040_002, "AccountNotFoundRetryable", "The customer's account was temporarily not found: try again.")
    /// `AppNotFoundError`: The app does not exist. Check the bundle id and the Apple ID.
    public static let appNotFound = Self(
        4040_003, "AppNotFound", "The app does not exist: check the bundle id and the Apple ID.")
    /// `AppNotFoundRetryableError`: The app was temporarily not found. Try again.
    public static let appNotFoundRetryable = Self(
        4040_004, "AppNotFoundRetryable", "The app was temporarily not found: try again.")
    /// `OriginalTransactionIdNotFoundError`: The original transaction id does not exist in this environment. Check the
    /// id, and query the other environment.
    public static let originalTransactionIdNotFound = Self(
        4040_005, "OriginalTransactionIdNotFound",
        "The original transaction id does not exist in this environment: check the id, and query the other one.")
    /// `OriginalTransactionIdNotFoundRetryableError`: The original transaction id was temporarily not found. Try again.
    public static let originalTransactionIdNotFoundRetryable = Self(
        4040_006, "OriginalTransactionIdNotFoundRetryable",
        "The original transaction id was temporarily not found: try again.")
    /// `ServerNotificationUrlNotFoundError`: The app has no URL for notifications in this environment. Set one in App
    /// Store Connect.
    public static let serverNotificationUrlNotFound = Self(
        4040_007, "ServerNotificationUrlNotFound",
        "The app has no URL for notifications in this environment: set one in App Store Connect.")
    /// `TestNotificationNotFoundError`: The test notification does not exist, or does not exist yet. Check the token,
    /// or try again later.
    public static let testNotificationNotFound = Self(
        4040_008, "TestNotificationNotFound",
        "The test notification does not exist, or does not exist yet: check the token, or try again later.")
    /// `StatusRequestNotFoundError`: The request for a mass extension does not exist. Check its identifier and the
    /// product id.
    public static let statusRequestNotFound = Self(
        4040_009, "StatusRequestNotFound",
        "The request for a mass extension does not exist: check its identifier and the product id.")
    /// `TransactionIdNotFoundError`: The transaction id does not exist in this environment. Check the id, and query the
    /// other environment.
    public static let transactionIdNotFound = Self(
        4040_010, "TransactionIdNotFound",
        "The transaction id does not exist in this environment: check the id, and query the other environment.")
    /// `ImageNotFoundError`: The image does not exist. Check its identifier.
    public static let imageNotFound = Self(4040_014, "ImageNotFound", "The image does not exist: check its identifier.")
    /// `MessageNotFoundError`: The message does not exist. Check its identifier.
    public static let messageNotFound = Self(
        4040_015, "MessageNotFound", "The message does not exist: check its identifier.")
    /// `PerformanceTestRunNotFoundError`: The performance test does not exist. Check its identifier.
    public static let performanceTestRunNotFound = Self(
        4040_018, "PerformanceTestRunNotFound", "The performance test does not exist: check its identifier.")
    /// `AppTransactionDoesNotExistError`: The customer has no app transaction. Do not ask for it again.
    public static let appTransactionDoesNotExist = Self(
        4040_019, "AppTransactionDoesNotExist", "The customer has no app transaction: do not request it again.")
    /// `DefaultMessageNotFoundError`: No default message is set for the product and the locale. Set one first.
    public static let defaultMessageNotFound = Self(
        4040_020, "DefaultMessageNotFound", "No default message is set for the product and the locale: set one first.")
    /// `RealtimeUrlNotFoundError`: No URL for real-time messages is set. Set one first.
    public static let realtimeUrlNotFound = Self(
        4040_021, "RealtimeUrlNotFound", "No URL for real-time messages is set: set one first.")

    // MARK: HTTP 409, 429 and 500

    /// `ImageAlreadyExistsError`: An image with this identifier exists. Use another identifier.
    public static let imageAlreadyExists = Self(
        4090_000, "ImageAlreadyExists", "An image with this identifier exists: use another identifier.")
    /// `MessageAlreadyExistsError`: A message with this identifier exists. Use another identifier.
    public static let messageAlreadyExists = Self(
        4090_001, "MessageAlreadyExists", "A message with this identifier exists: use another identifier.")
    /// `RateLimitExceededError`: Too many requests. Wait until ``AppStoreServerAPIError/retryAfter``.
    public static let rateLimitExceeded = Self(
        4290_000, "RateLimitExceeded", "Too many requests: wait until the time that it names.")
    /// `GeneralInternalError`: An internal error at Apple. Try again later.
    public static let generalInternal = Self(
        5000_000, "GeneralInternal", "An internal error at Apple: try again later.")
    /// `GeneralInternalRetryableError`: An internal error at Apple. Try again.
    public static let generalInternalRetryable = Self(
        5000_001, "GeneralInternalRetryable", "An internal error at Apple: try again.")
}
