internal import AppStoreModels

extension AppStoreServerAPIError {
    /// One sentence for a person: what is wrong, and what to do.
    ///
    /// Apple publishes no numbers for some errors (Reference.md S3.1). Their text, ``message``, is the only explanation.
    public var explanation: String {
        switch reason {
        case .refused:
            code.flatMap { APIErrorCode.explanations[$0] }
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
        case .pagingStalled: "Apple announced more pages but named no new one: start over."
        case .tokenFailure: "The token could not be created: check the key."
        }
    }
}

extension APIErrorCode {
    /// What is wrong, and what to do; for each known value.
    fileprivate static let explanations: [Self: String] = [
        .generalBadRequest: "Apple cannot use the request and gives no reason: correct the request.",
        .invalidAppIdentifier: "The app identifier is not valid: correct it.",
        .invalidRequestRevision: "The revision is not valid: send the revision of the previous page.",
        .invalidTransactionId: "The transaction id is not valid: send an id from the App Store, as text.",
        .invalidOriginalTransactionId:
            "The original transaction id is not valid: send an id from the App Store, as text.",
        .invalidExtendByDays: "The number of days is not valid: send a number in Apple's documented range.",
        .invalidExtendReasonCode: "The reason of the extension is not valid: send one of the documented values.",
        .invalidRequestIdentifier: "The request identifier is not valid: send one of at most 128 characters.",
        .startDateTooFarInPast: "The start date is before the oldest notification that Apple keeps: send a later one.",
        .startDateAfterEndDate: "The start date is not before the end date: send an earlier one.",
        .invalidPaginationToken:
            "The pagination token is not valid: send the token of the previous page, or start over.",
        .invalidStartDate: "The start date is not valid: send milliseconds since 1970-01-01 00:00 UTC.",
        .invalidEndDate: "The end date is not valid: send milliseconds since 1970-01-01 00:00 UTC.",
        .paginationTokenExpired: "The pagination token has expired: start over with the first page.",
        .invalidNotificationType: "The notification type or subtype is not valid: send a documented pair.",
        .multipleFiltersSupplied: "The request has both a transaction id and a notification type: send only one.",
        .invalidTestNotificationToken:
            "The token of the test notification is not valid: send the token from the answer to the request.",
        .invalidSort: "The order is not valid: send ASCENDING or DESCENDING.",
        .invalidProductType: "The product type is not valid: send one of the documented values.",
        .invalidProductId: "The product id is not valid: correct it.",
        .invalidSubscriptionGroupIdentifier: "The subscription group identifier is not valid: correct it.",
        .invalidExcludeRevoked: "The value of excludeRevoked is not valid: send true or false.",
        .invalidInAppOwnershipType: "The ownership type is not valid: send PURCHASED or FAMILY_SHARED.",
        .invalidEmptyStorefrontCountryCodeList:
            "The list of storefronts is empty: add storefronts, or omit the list for all of them.",
        .invalidStorefrontCountryCode: "A storefront is not valid: send ISO 3166-1 codes of three letters.",
        .invalidRevoked: "The value of revoked is not valid: send true or false.",
        .invalidStatus: "The subscription status is not valid: send 1 to 5.",
        .invalidAccountTenure: "The account tenure is not valid: send one of the documented values.",
        .invalidAppAccountToken: "The app account token is not valid: send a UUID, or an empty string for none.",
        .invalidConsumptionStatus: "The consumption status is not valid: send one of the documented values.",
        .invalidCustomerConsented:
            "The value of customerConsented is not valid: send true; without consent, do not send the request.",
        .invalidDeliveryStatus: "The delivery status is not valid: send one of the documented values.",
        .invalidLifetimeDollarsPurchased: "The amount purchased is not valid: send one of the documented ranges.",
        .invalidLifetimeDollarsRefunded: "The amount refunded is not valid: send one of the documented ranges.",
        .invalidPlatform: "The platform is not valid: send one of the documented values.",
        .invalidPlayTime: "The play time is not valid: send one of the documented ranges.",
        .invalidSampleContentProvided: "The value of sampleContentProvided is not valid: send true or false.",
        .invalidUserStatus: "The user status is not valid: send one of the documented values.",
        .invalidTransactionNotConsumable: "The transaction is not a consumable: apple no longer sends this error.",
        .invalidTransactionTypeNotSupported: "The call does not support this product type: skip such transactions.",
        .appTransactionIdNotSupported: "The call does not support app transaction ids: send a transaction id.",
        .invalidImage: "The image is not valid: send it in a documented format.",
        .headerTooLong: "The header of the message is too long: shorten it.",
        .bodyTooLong: "The body of the message is too long: shorten it.",
        .invalidLocale: "The locale is not valid: send one of the documented values.",
        .altTextTooLong: "The alternative text of an image is too long: shorten it.",
        .invalidAppAccountTokenUUID: "The app account token is not a UUID: send a UUID.",
        .familyTransactionNotSupported: "The call does not support transactions from Family Sharing: skip them.",
        .transactionIdIsNotOriginalTransactionId:
            "The transaction is not the first of its purchase: send the original transaction id.",
        .invalidPerformanceTestRequest: "The request for a performance test is not valid: correct it.",
        .invalidRequestId: "The id of the performance test is not valid: send the id from the answer that started it.",
        .existingPerformanceTestRun: "A performance test is running: wait until it ends.",
        .badRequestRealtimeUrl: "The URL for real-time messages is not valid: correct it.",
        .badRequestImageSize: "The image does not have a documented size: change the image.",
        .badRequestTooManyBulletPoints: "The message has too many bullet points: remove some.",
        .badRequestBulletPointTextTooLong: "The text of a bullet point is too long: shorten it.",
        .badRequestAboveImageRequiresAnImage:
            "The message has text above an image, but no image: add an image or move the text.",
        .subscriptionExtensionIneligible: "The state of the subscription does not allow an extension: skip it.",
        .subscriptionMaxExtension: "The subscription already has all extensions that Apple allows: skip it.",
        .familySharedSubscriptionExtensionIneligible:
            "The subscription is shared with this family member: extend the subscription of the buyer.",
        .maximumNumberOfImagesReached: "The app already has the maximum number of images: delete one first.",
        .maximumNumberOfMessagesReached: "The app already has the maximum number of messages: delete one first.",
        .messageNotApproved: "Apple has not approved the message: wait for approval, or use another one.",
        .imageNotApproved: "Apple has not approved the image: wait for approval, or use another one.",
        .imageInUse: "A message uses the image: delete the message first.",
        .forbiddenNoPassingTest: "The URL for real-time messages has passed no performance test: run one first.",
        .accountNotFound: "The customer's account does not exist: do not query it again.",
        .accountNotFoundRetryable: "The customer's account was temporarily not found: try again.",
        .appNotFound: "The app does not exist: check the bundle id and the Apple ID.",
        .appNotFoundRetryable: "The app was temporarily not found: try again.",
        .originalTransactionIdNotFound:
            "The original transaction id does not exist in this environment: check the id, and query the other one.",
        .originalTransactionIdNotFoundRetryable: "The original transaction id was temporarily not found: try again.",
        .serverNotificationUrlNotFound:
            "The app has no URL for notifications in this environment: set one in App Store Connect.",
        .testNotificationNotFound:
            "The test notification does not exist, or does not exist yet: check the token, or try again later.",
        .statusRequestNotFound:
            "The request for a mass extension does not exist: check its identifier and the product id.",
        .transactionIdNotFound:
            "The transaction id does not exist in this environment: check the id, and query the other environment.",
        .imageNotFound: "The image does not exist: check its identifier.",
        .messageNotFound: "The message does not exist: check its identifier.",
        .performanceTestRunNotFound: "The performance test does not exist: check its identifier.",
        .appTransactionDoesNotExist: "The customer has no app transaction: do not ask for it again.",
        .defaultMessageNotFound: "No default message is set for the product and the locale: set one first.",
        .realtimeUrlNotFound: "No URL for real-time messages is set: set one first.",
        .imageAlreadyExists: "An image with this identifier exists: use another identifier.",
        .messageAlreadyExists: "A message with this identifier exists: use another identifier.",
        .rateLimitExceeded: "Too many requests: wait until the time that it names.",
        .generalInternal: "An internal error at Apple: try again later.",
        .generalInternalRetryable: "An internal error at Apple: try again.",
    ]
}
