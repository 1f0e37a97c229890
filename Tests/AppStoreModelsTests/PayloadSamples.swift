import AppStoreModels

/// Payloads in which every field is set, each to a value of its own. `ReflectionTests` proves that none was forgotten.
enum Sample {
    static let offer = AdvancedCommerceOffer {
        $0.period = .threeDays
        $0.periodCount = 12
        $0.price = 990
        $0.reason = .winBack
    }

    static let descriptors = AdvancedCommerceDescriptors {
        $0.description = "Everything, every month"
        $0.displayName = "Ünlimited 🎧"
    }

    static let transaction = JWSTransactionDecodedPayload {
        $0.originalTransactionId = "1000000831360853"
        $0.transactionId = "1000000842093182"
        $0.previousOriginalTransactionId = "1000000800000001"
        $0.webOrderLineItemId = "1000000063561721"
        $0.bundleId = "com.example.legacy"
        $0.productId = "com.example.legacy.\"monthly\"\\\u{1}"
        $0.subscriptionGroupIdentifier = "20765432"
        $0.purchaseDate = 1_697_680_122_257
        $0.originalPurchaseDate = -62_135_769_600_000
        $0.expiresDate = 1_700_358_522_257
        $0.quantity = 3
        $0.type = .autoRenewableSubscription
        $0.appAccountToken = "7E3FB204-2ab7-4B57-9C8E-0f60f2D3E1A0"
        $0.inAppOwnershipType = .familyShared
        $0.signedDate = 1_697_680_122_300
        $0.revocationReason = .other
        $0.revocationDate = 1_698_000_000_001
        $0.revocationType = .refundProrated
        $0.revocationPercentage = 50_000
        $0.isUpgraded = false
        $0.offerType = .winBack
        $0.offerIdentifier = "come-back-2023"
        $0.offerDiscountType = .payUpFront
        $0.offerPeriod = "P1M"
        $0.environment = .localTesting
        $0.storefront = "DEU"
        $0.storefrontId = "143443"
        $0.transactionReason = .renewal
        $0.currency = "EUR"
        $0.price = 9_007_199_254_740_993
        $0.appTransactionId = "704000000000000001"
        $0.advancedCommerceInfo = AdvancedCommerceTransactionInfo {
            $0.descriptors = descriptors
            $0.estimatedTax = 1_900
            $0.items = [item, AdvancedCommerceTransactionItem { $0.SKU = "bare" }]
            $0.period = .sixMonths
            $0.requestReferenceId = "1b6f0b2c-0d1e-4f7f-9b43-0a4e3c2d1f00"
            $0.taxCode = "C003-00-1"
            $0.taxExclusivePrice = 8_090
            $0.taxRate = "0.19"
        }
        $0.billingPlanType = .monthly
        $0.commitmentInfo = TransactionCommitmentInfo {
            $0.billingPeriodNumber = 4
            $0.totalBillingPeriods = 12
            $0.commitmentExpiresDate = 1_720_000_000_000
            $0.commitmentPrice = 119_880
        }
        $0.multiSeatInfo = TransactionMultiSeatInfo {
            $0.invitationManagement = .developer
            $0.priceTiers = [
                SeatPriceTier {
                    $0.price = 9_990
                    $0.quantity = 10
                },
                SeatPriceTier { $0.price = 10_990 },
            ]
            $0.revokedSeatQuantity = 2
        }
        $0.additionalTransactionReason = .seatAddition
    }

    static let item = AdvancedCommerceTransactionItem {
        $0.SKU = "sku/1"
        $0.description = "First item"
        $0.displayName = "One"
        $0.offer = offer
        $0.price = 4_990
        $0.refunds = [
            AdvancedCommerceRefund {
                $0.refundAmount = Int64.max
                $0.refundDate = 1_699_000_000_000
                $0.refundReason = .simulateRefundDecline
                $0.refundType = .custom
            }
        ]
        $0.revocationDate = 1_699_000_000_001
    }

    static let renewalInfo = JWSRenewalInfoDecodedPayload {
        $0.expirationIntent = .noConsentToPriceIncrease
        $0.originalTransactionId = "1000000831360853"
        $0.autoRenewProductId = "com.example.legacy.yearly"
        $0.productId = "com.example.legacy.monthly"
        $0.autoRenewStatus = .off
        $0.isInBillingRetryPeriod = true
        $0.priceIncreaseStatus = .pending
        $0.gracePeriodExpiresDate = 1_700_400_000_000
        $0.offerType = .promotional
        $0.offerIdentifier = "loyal"
        $0.offerDiscountType = .payAsYouGo
        $0.offerPeriod = "P2W"
        $0.signedDate = 1_697_680_122_301
        $0.environment = .sandbox
        $0.recentSubscriptionStartDate = 1_600_000_000_000
        $0.renewalDate = 1_700_358_522_257
        $0.currency = "JPY"
        $0.renewalPrice = 980_000
        $0.eligibleWinBackOfferIds = ["best", "second\nbest"]
        $0.appAccountToken = "7e3fb204-2ab7-4b57-9c8e-0f60f2d3e1a0"
        $0.appTransactionId = "704000000000000001"
        $0.advancedCommerceInfo = AdvancedCommerceRenewalInfo {
            $0.consistencyToken = "token+/="
            $0.descriptors = descriptors
            $0.items = [
                AdvancedCommerceRenewalItem {
                    $0.SKU = "sku/1"
                    $0.description = "First item"
                    $0.displayName = "One"
                    $0.offer = offer
                    $0.price = 4_990
                    $0.priceIncreaseInfo = AdvancedCommercePriceIncreaseInfo {
                        $0.dependentSKUs = ["sku/2"]
                        $0.price = 5_990
                        $0.status = .scheduled
                    }
                }
            ]
            $0.period = .oneYear
            $0.requestReferenceId = "1b6f0b2c-0d1e-4f7f-9b43-0a4e3c2d1f00"
            $0.taxCode = "C003-00-2"
        }
        $0.renewalBillingPlanType = .billedUpfront
        $0.commitmentInfo = RenewalCommitmentInfo {
            $0.commitmentAutoRenewProductId = "com.example.legacy.yearly"
            $0.commitmentAutoRenewStatus = .on
            $0.commitmentRenewalBillingPlanType = .monthly
            $0.commitmentRenewalDate = 1_720_000_000_000
            $0.commitmentRenewalPrice = 119_880
        }
        $0.renewalQuantity = 12
        $0.multiSeatInfo = RenewalMultiSeatInfo {
            $0.renewalPriceTiers = [
                SeatPriceTier {
                    $0.price = 8_990
                    $0.quantity = 12
                }
            ]
        }
    }

    static let appTransaction = AppTransaction {
        $0.receiptType = .production
        $0.appAppleId = 9_007_199_254_740_993
        $0.bundleId = "com.example.legacy"
        $0.applicationVersion = "4.2"
        $0.versionExternalIdentifier = 850_000_001
        $0.receiptCreationDate = 1_697_680_122_257
        $0.originalPurchaseDate = 1_400_000_000_000
        $0.originalApplicationVersion = "1.0"
        $0.deviceVerification = "SGVsbG8gcGxhbmV0IQ=="
        $0.deviceVerificationNonce = "48c8b92d-ce0d-4229-bedf-e61b4f9cfc92"
        $0.preorderDate = 1_399_000_000_000
        $0.appTransactionId = "704000000000000001"
        $0.originalPlatform = .visionOS
        $0.storeType = .consumer
    }

    /// Apple sends one of the objects; all of them are here so that each is exercised.
    static let notification = ResponseBodyV2DecodedPayload {
        $0.notificationType = .consumptionRequest
        $0.subtype = .billingRecovery
        $0.notificationUUID = "002e14d5-51f5-4503-b5a8-c3a1af68eb20"
        $0.data = NotificationData {
            $0.environment = .production
            $0.appAppleId = 41234
            $0.bundleId = "com.example.legacy"
            $0.bundleVersion = "1.2.3"
            $0.signedTransactionInfo = "a.b.c"
            $0.signedRenewalInfo = "d.e.f"
            $0.status = .billingGracePeriod
            $0.consumptionRequestReason = .fulfillmentIssue
        }
        $0.version = "2.0"
        $0.signedDate = 1_698_148_900_000
        $0.summary = Summary {
            $0.environment = .sandbox
            $0.appAppleId = 41234
            $0.bundleId = "com.example.legacy"
            $0.productId = "monthly"
            $0.requestIdentifier = "efb27071-45a4-4aca-9854-2a1e9146f265"
            $0.storefrontCountryCodes = ["CAN", "USA"]
            $0.succeededCount = 5_000_000_000
            $0.failedCount = 2
        }
        $0.externalPurchaseToken = ExternalPurchaseToken {
            $0.externalPurchaseId = "SANDBOX_b2158121"
            $0.tokenCreationDate = 1_698_148_950_000
            $0.appAppleId = 55555
            $0.bundleId = "com.example.legacy"
            $0.tokenExpirationDate = 1_698_148_960_000
            $0.tokenType = "SERVICES"
        }
        $0.appData = AppData {
            $0.appAppleId = 41234
            $0.bundleId = "com.example.legacy"
            $0.environment = .production
            $0.signedAppTransactionInfo = "g.h.i"
        }
        $0.unclaimInfo = UnclaimInfo { $0.unclaimSeatIds = ["a1b2c3d4-e5f6-4789-8abc-def012345678"] }
    }
}
