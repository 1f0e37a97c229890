// swift-tools-version: 6.2
import PackageDescription

// A separate package, so users of the library neither resolve nor build it. Documentation/BENCHMARKS.md has the
// commands.
let strictWarnings = Context.environment["LEGACY_RECEIPTS_WARNINGS_AS_ERRORS"] == "1"
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + (strictWarnings ? [.treatAllWarnings(as: .error)] : [])

func ours(_ name: String) -> Target.Dependency { .product(name: name, package: "legacy-receipts") }

let package = Package(
    name: "benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "legacy-receipts", path: "../.."),
        // The same versions as in ../../Package.swift.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .executableTarget(
            name: "legacy-receipts-benchmark",
            dependencies: [
                ours("AppStoreModels"), ours("AppStoreServer"), ours("AppStoreSync"), ours("LegacyReceipts"),
                ours("Migration"),
                ours("PostgreSQLTransactionStore"), ours("ReceiptForge"), ours("SQLiteTransactionStore"),
                ours("TransactionStore"), ours("TransactionStoreConformance"), ours("VerifyReceipt"),
                ours("VerifyReceiptServer"), ours("Purchases"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Sources",
            swiftSettings: settings)
    ]
)
