// swift-tools-version: 6.2
import PackageDescription

/// CI sets this so that a warning in our own targets fails the build; packages that depend on us never see it.
let strictWarnings = Context.environment["LEGACY_RECEIPTS_WARNINGS_AS_ERRORS"] == "1"
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + (strictWarnings ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "legacy-receipts",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "AppStoreModels", targets: ["AppStoreModels"]),
        .library(name: "LegacyReceipts", targets: ["LegacyReceipts"]),
        .library(name: "ReceiptMigration", targets: ["ReceiptMigration"]),
        .library(name: "ReceiptForge", targets: ["ReceiptForge"]),
        .executable(name: "legacy-receipts", targets: ["legacy-receipts"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    ],
    targets: [
        .target(name: "AppStoreModels", swiftSettings: settings),
        .target(
            name: "LegacyReceipts",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .target(
            name: "ReceiptMigration",
            dependencies: ["AppStoreModels", "LegacyReceipts", .product(name: "Yams", package: "Yams")],
            swiftSettings: settings),
        .target(
            name: "ReceiptForge",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "legacy-receipts",
            dependencies: [
                "AppStoreModels", "LegacyReceipts", "ReceiptMigration",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "legacy-receipts-benchmark",
            dependencies: [
                "AppStoreModels", "LegacyReceipts", "ReceiptMigration", "ReceiptForge",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            path: "tools/benchmark",
            swiftSettings: settings),
        .executableTarget(
            name: "legacy-receipts-fixtures",
            dependencies: ["AppStoreModels", "LegacyReceipts", "ReceiptMigration", "ReceiptForge"],
            path: "tools/fixtures",
            swiftSettings: settings),

        // Outside judges, for the tests only: nothing above may depend on these.
        .systemLibrary(
            name: "COpenSSL", path: "Tests/COpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .target(
            name: "OpenSSLOracle", dependencies: ["COpenSSL"], path: "Tests/OpenSSLOracle", swiftSettings: settings),

        .testTarget(name: "AppStoreModelsTests", dependencies: ["AppStoreModels"], swiftSettings: settings),
        .testTarget(
            name: "LegacyReceiptsTests",
            dependencies: [
                "LegacyReceipts", "ReceiptForge", "OpenSSLOracle",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ReceiptMigrationTests",
            dependencies: ["AppStoreModels", "LegacyReceipts", "ReceiptMigration", "ReceiptForge"],
            exclude: ["ProductCatalog/Examples"],
            swiftSettings: settings),
        .testTarget(
            name: "ReceiptForgeTests",
            dependencies: ["ReceiptForge", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings),
        .testTarget(
            name: "OpenSSLOracleTests",
            dependencies: [
                "OpenSSLOracle", "COpenSSL",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["AppStoreModels", "LegacyReceipts", "ReceiptMigration", "ReceiptForge"],
            swiftSettings: settings),
        .testTarget(
            name: "CommandTests",
            dependencies: ["legacy-receipts", "LegacyReceipts", "ReceiptForge", "ReceiptMigration"],
            swiftSettings: settings),
    ]
)
