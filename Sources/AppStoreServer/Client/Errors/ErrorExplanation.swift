internal import AppStoreModels

extension AppStoreServerAPIError {
    /// One sentence for a person: what is wrong, and what to do.
    ///
    /// Apple publishes no numbers for some errors (Reference.md S3.1). Their text, ``message``, is the only explanation.
    public var explanation: String {
        switch reason {
        case .refused:
            code.flatMap { APIErrorCode.meanings[$0]?.explanation }
                ?? "Apple rejects the request with an error that this version does not list: follow the error's text."
        case .unauthorized:
            """
            Apple does not accept the key: check the key, its id, the issuer id and the bundle id; production also \
            rejects every key until the app has its first release.
            """
        case .rateLimited: "Apple received too many requests for the app: wait, and send fewer."
        case .unexpectedStatus:
            (httpStatus ?? 0) >= 500
                ? "Apple's server failed without a reason: try again later."
                : "The server answered without a reason: check its address and that the environment has this endpoint."
        case .timedOut:
            "The answer took too long, so Apple may have processed the request: check whether it did, or send it again."
        case .notConnected: "No connection to the server could be opened: check the network and try again."
        case .interrupted:
            "The connection broke, so Apple may have processed the request: check whether it did, or send it again."
        case .responseTooLarge: "The answer is larger than the client allows: request less."
        case .invalidResponse:
            "The answer does not have Apple's form: check the server's address; a proxy may have answered."
        case .invalidRequest: "The request cannot be sent as it is: correct \(detail ?? "its argument")."
        case .rateBudgetExhausted: "The client's own rate budget is used up: try again later."
        case .pagingStalled: "Apple announced more pages without a new token: start with the first page."
        case .tokenFailure: "The token could not be created: check the key."
        }
    }
}

extension APIErrorCode {
    typealias Meaning = (name: String, explanation: String)

    static let meanings: [Self: Meaning] = Dictionary(knownMeanings.map { ($0.key, $0.value) }) { first, _ in first }

    /// Apple's name of each known value, and a sentence: what is wrong and what to do.
    static let knownMeanings: KeyValuePairs<Self, Meaning> = [
        .generalBadRequest: (
            "GeneralBadRequest", "Apple cannot use the request and gives no reason: correct the request."
        ),
        .invalidAppIdentifier: ("InvalidAppIdentifier", "The app identifier is not valid: correct it."),
        .invalidRequestRevision: (
            "InvalidRequestRevision", "The revision is not valid: send the revision of the previous page."
        ),
        .invalidTransactionId: (
            "InvalidTransactionId", "The transaction id is not valid: send an id from the App Store, as text."
        ),
        .invalidOriginalTransactionId: (
            "InvalidOriginalTransactionId",
            "The original transaction id is not valid: send an id from the App Store, as text."
        ),
        .invalidExtendByDays: (
            "InvalidExtendByDays", "The number of days is not valid: send a number in Apple's documented range."
        ),
        .invalidExtendReasonCode: (
            "InvalidExtendReasonCode", "The reason of the extension is not valid: send one of the documented values."
        ),
        .invalidRequestIdentifier: (
            "InvalidRequestIdentifier", "The request identifier is not valid: send one of at most 128 characters."
        ),
        .startDateTooFarInPast: (
            "StartDateTooFarInPast",
            "The start date is before the oldest notification that Apple keeps: send a later one."
        ),
        .startDateAfterEndDate: (
            "StartDateAfterEndDate", "The start date is not before the end date: send an earlier one."
        ),
        .invalidPaginationToken: (
            "InvalidPaginationToken",
            "The pagination token is not valid: send the token of the previous page, or start over."
        ),
        .invalidStartDate: (
            "InvalidStartDate", "The start date is not valid: send milliseconds since 1970-01-01 00:00 UTC."
        ),
        .invalidEndDate: ("InvalidEndDate", "The end date is not valid: send milliseconds since 1970-01-01 00:00 UTC."),
        .paginationTokenExpired: (
            "PaginationTokenExpired", "The pagination token has expired: start over with the first page."
        ),
        .invalidNotificationType: (
            "InvalidNotificationType", "The notification type or subtype is not valid: send a documented pair."
        ),
        .multipleFiltersSupplied: (
            "MultipleFiltersSupplied", "The request has both a transaction id and a notification type: send only one."
        ),
        .invalidTestNotificationToken: (
            "InvalidTestNotificationToken",
            "The token of the test notification is not valid: send the token from the answer to the request."
        ),
        .invalidSort: ("InvalidSort", "The order is not valid: send ASCENDING or DESCENDING."),
        .invalidProductType: (
            "InvalidProductType", "The product type is not valid: send one of the documented values."
        ),
        .invalidProductId: ("InvalidProductId", "The product id is not valid: correct it."),
        .invalidSubscriptionGroupIdentifier: (
            "InvalidSubscriptionGroupIdentifier", "The subscription group identifier is not valid: correct it."
        ),
        .invalidExcludeRevoked: (
            "InvalidExcludeRevoked", "The value of excludeRevoked is not valid: send true or false."
        ),
        .invalidInAppOwnershipType: (
            "InvalidInAppOwnershipType", "The ownership type is not valid: send PURCHASED or FAMILY_SHARED."
        ),
        .invalidEmptyStorefrontCountryCodeList: (
            "InvalidEmptyStorefrontCountryCodeList",
            "The list of storefronts is empty: add storefronts, or omit the list for all of them."
        ),
        .invalidStorefrontCountryCode: (
            "InvalidStorefrontCountryCode", "A storefront is not valid: send ISO 3166-1 codes of three letters."
        ),
        .invalidRevoked: ("InvalidRevoked", "The value of revoked is not valid: send true or false."),
        .invalidStatus: ("InvalidStatus", "The subscription status is not valid: send 1 to 5."),
        .invalidAccountTenure: (
            "InvalidAccountTenure", "The account tenure is not valid: send one of the documented values."
        ),
        .invalidAppAccountToken: (
            "InvalidAppAccountToken", "The app account token is not valid: send a UUID, or an empty string for none."
        ),
        .invalidConsumptionStatus: (
            "InvalidConsumptionStatus", "The consumption status is not valid: send one of the documented values."
        ),
        .invalidCustomerConsented: (
            "InvalidCustomerConsented",
            "The value of customerConsented is not valid: send true; without consent, do not send the request."
        ),
        .invalidDeliveryStatus: (
            "InvalidDeliveryStatus", "The delivery status is not valid: send one of the documented values."
        ),
        .invalidLifetimeDollarsPurchased: (
            "InvalidLifetimeDollarsPurchased", "The amount purchased is not valid: send one of the documented ranges."
        ),
        .invalidLifetimeDollarsRefunded: (
            "InvalidLifetimeDollarsRefunded", "The amount refunded is not valid: send one of the documented ranges."
        ),
        .invalidPlatform: ("InvalidPlatform", "The platform is not valid: send one of the documented values."),
        .invalidPlayTime: ("InvalidPlayTime", "The play time is not valid: send one of the documented ranges."),
        .invalidSampleContentProvided: (
            "InvalidSampleContentProvided", "The value of sampleContentProvided is not valid: send true or false."
        ),
        .invalidUserStatus: ("InvalidUserStatus", "The user status is not valid: send one of the documented values."),
        .invalidTransactionNotConsumable: (
            "InvalidTransactionNotConsumable", "The transaction is not a consumable: Apple no longer sends this error."
        ),
        .invalidTransactionTypeNotSupported: (
            "InvalidTransactionTypeNotSupported", "The call does not support this product type: skip such transactions."
        ),
        .appTransactionIdNotSupported: (
            "AppTransactionIdNotSupported", "The call does not support app transaction ids: send a transaction id."
        ),
        .invalidImage: ("InvalidImage", "The image is not valid: send it in a documented format."),
        .headerTooLong: ("HeaderTooLong", "The header of the message is too long: shorten it."),
        .bodyTooLong: ("BodyTooLong", "The body of the message is too long: shorten it."),
        .invalidLocale: ("InvalidLocale", "The locale is not valid: send one of the documented values."),
        .altTextTooLong: ("AltTextTooLong", "The alternative text of an image is too long: shorten it."),
        .invalidAppAccountTokenUUID: (
            "InvalidAppAccountTokenUUID", "The app account token is not a UUID: send a UUID."
        ),
        .familyTransactionNotSupported: (
            "FamilyTransactionNotSupported", "The call does not support transactions from Family Sharing: skip them."
        ),
        .transactionIdIsNotOriginalTransactionId: (
            "TransactionIdIsNotOriginalTransactionId",
            "The transaction is not the first of its purchase: send the original transaction id."
        ),
        .invalidPerformanceTestRequest: (
            "InvalidPerformanceTestRequest", "The request for a performance test is not valid: correct it."
        ),
        .invalidRequestId: (
            "InvalidRequestId",
            "The id of the performance test is not valid: send the id from the answer that started it."
        ),
        .existingPerformanceTestRun: (
            "ExistingPerformanceTestRun", "A performance test is running: wait until it ends."
        ),
        .badRequestRealtimeUrl: ("BadRequestRealtimeUrl", "The URL for real-time messages is not valid: correct it."),
        .badRequestImageSize: ("BadRequestImageSize", "The image does not have a documented size: change the image."),
        .badRequestTooManyBulletPoints: (
            "BadRequestTooManyBulletPoints", "The message has too many bullet points: remove some."
        ),
        .badRequestBulletPointTextTooLong: (
            "BadRequestBulletPointTextTooLong", "The text of a bullet point is too long: shorten it."
        ),
        .badRequestAboveImageRequiresAnImage: (
            "BadRequestAboveImageRequiresAnImage",
            "The message has text above an image, but no image: add an image or move the text."
        ),
        .subscriptionExtensionIneligible: (
            "SubscriptionExtensionIneligible", "The state of the subscription does not allow an extension: skip it."
        ),
        .subscriptionMaxExtension: (
            "SubscriptionMaxExtension", "The subscription already has all extensions that Apple allows: skip it."
        ),
        .familySharedSubscriptionExtensionIneligible: (
            "FamilySharedSubscriptionExtensionIneligible",
            "The subscription is shared with this family member: extend the subscription of the buyer."
        ),
        .maximumNumberOfImagesReached: (
            "MaximumNumberOfImagesReached", "The app already has the maximum number of images: delete one first."
        ),
        .maximumNumberOfMessagesReached: (
            "MaximumNumberOfMessagesReached", "The app already has the maximum number of messages: delete one first."
        ),
        .messageNotApproved: (
            "MessageNotApproved", "Apple has not approved the message: wait for approval, or use another one."
        ),
        .imageNotApproved: (
            "ImageNotApproved", "Apple has not approved the image: wait for approval, or use another one."
        ),
        .imageInUse: ("ImageInUse", "A message uses the image: delete the message first."),
        .forbiddenNoPassingTest: (
            "ForbiddenNoPassingTest", "The URL for real-time messages has passed no performance test: run one first."
        ),
        .accountNotFound: ("AccountNotFound", "The customer's account does not exist: do not query it again."),
        .accountNotFoundRetryable: (
            "AccountNotFoundRetryable", "The customer's account was temporarily not found: try again."
        ),
        .appNotFound: ("AppNotFound", "The app does not exist: check the bundle id and the Apple ID."),
        .appNotFoundRetryable: ("AppNotFoundRetryable", "The app was temporarily not found: try again."),
        .originalTransactionIdNotFound: (
            "OriginalTransactionIdNotFound",
            "The original transaction id does not exist in this environment: check the id, and query the other one."
        ),
        .originalTransactionIdNotFoundRetryable: (
            "OriginalTransactionIdNotFoundRetryable",
            "The original transaction id was temporarily not found: try again."
        ),
        .serverNotificationUrlNotFound: (
            "ServerNotificationUrlNotFound",
            "The app has no URL for notifications in this environment: set one in App Store Connect."
        ),
        .testNotificationNotFound: (
            "TestNotificationNotFound",
            "The test notification does not exist, or does not exist yet: check the token, or try again later."
        ),
        .statusRequestNotFound: (
            "StatusRequestNotFound",
            "The request for a mass extension does not exist: check its identifier and the product id."
        ),
        .transactionIdNotFound: (
            "TransactionIdNotFound",
            "The transaction id does not exist in this environment: check the id, and query the other environment."
        ),
        .imageNotFound: ("ImageNotFound", "The image does not exist: check its identifier."),
        .messageNotFound: ("MessageNotFound", "The message does not exist: check its identifier."),
        .performanceTestRunNotFound: (
            "PerformanceTestRunNotFound", "The performance test does not exist: check its identifier."
        ),
        .appTransactionDoesNotExist: (
            "AppTransactionDoesNotExist", "The customer has no app transaction: do not request it again."
        ),
        .defaultMessageNotFound: (
            "DefaultMessageNotFound", "No default message is set for the product and the locale: set one first."
        ),
        .realtimeUrlNotFound: ("RealtimeUrlNotFound", "No URL for real-time messages is set: set one first."),
        .imageAlreadyExists: ("ImageAlreadyExists", "An image with this identifier exists: use another identifier."),
        .messageAlreadyExists: (
            "MessageAlreadyExists", "A message with this identifier exists: use another identifier."
        ),
        .rateLimitExceeded: ("RateLimitExceeded", "Too many requests: wait until the time that it names."),
        .generalInternal: ("GeneralInternal", "An internal error at Apple: try again later."),
        .generalInternalRetryable: ("GeneralInternalRetryable", "An internal error at Apple: try again."),
    ]
}
