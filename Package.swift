// swift-tools-version: 6.2
import PackageDescription

/// CI sets this, so a warning in our own targets fails the build. It does not affect packages that depend on us.
let strictWarnings = Context.environment["LEGACY_RECEIPTS_WARNINGS_AS_ERRORS"] == "1"
/// CI sets this for its first run of the tests: our own targets are then compiled as in debug, also in a release build. So the
/// packages of others are compiled only once. Packages that depend on us must not set it, because SwiftPM refuses unsafe flags
/// in dependencies.
let unoptimized: [SwiftSetting] =
    Context.environment["LEGACY_RECEIPTS_UNOPTIMIZED"] == "1"
    ? [.unsafeFlags(["-Onone"], .when(configuration: .release)), .define("DEBUG", .when(configuration: .release))] : []
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + (strictWarnings ? [.treatAllWarnings(as: .error)] : []) + unoptimized
/// In a release build the tests check optimized libraries, but are not optimized themselves: that would take the compiler
/// minutes and check nothing more. Only where this package is built for itself, because SwiftPM refuses unsafe flags in
/// dependencies.
let testSettings: [SwiftSetting] =
    settings + (strictWarnings ? [.unsafeFlags(["-Onone"], .when(configuration: .release))] : [])

/// Products of packages that only some of our libraries need, see `traits` below.
func server(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Server"]))
}
let yams: Target.Dependency = .product(name: "Yams", package: "Yams", condition: .when(traits: ["ProductCatalog"]))
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite"]))
let grdbSQLite: Target.Dependency = .product(
    name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["SQLite"]))
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")

let package = Package(
    name: "legacy-receipts",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "AppStoreModels", targets: ["AppStoreModels"]),
        .library(name: "AppStoreTrust", targets: ["AppStoreTrust"]),
        .library(name: "LegacyReceipts", targets: ["LegacyReceipts"]),
        .library(name: "AppStoreServer", targets: ["AppStoreServer"]),
        .library(name: "AppStoreSync", targets: ["AppStoreSync"]),
        .library(name: "AppStoreSandbox", targets: ["AppStoreSandbox"]),
        .library(name: "ProductCatalog", targets: ["ProductCatalog"]),
        .library(name: "Purchases", targets: ["Purchases"]),
        .library(name: "Migration", targets: ["Migration"]),
        .library(name: "ReceiptForge", targets: ["ReceiptForge"]),
        .library(name: "TransactionStore", targets: ["TransactionStore"]),
        .library(name: "TransactionStoreConformance", targets: ["TransactionStoreConformance"]),
        .library(name: "SQLiteTransactionStore", targets: ["SQLiteTransactionStore"]),
        .library(name: "PostgreSQLTransactionStore", targets: ["PostgreSQLTransactionStore"]),
        .library(name: "VerifyReceipt", targets: ["VerifyReceipt"]),
        .library(name: "ReplyComparison", targets: ["ReplyComparison"]),
        .library(name: "VerifyReceiptServer", targets: ["VerifyReceiptServer"]),
        .executable(name: "legacy-receipts", targets: ["legacy-receipts"]),
    ],
    // Everything is on by default. Who wants one library names what it needs (`traits: []` for LegacyReceipts alone), and
    // the packages of the others are not even fetched.
    traits: [
        .default(enabledTraits: ["ProductCatalog", "SQLite", "Server", "CommandLine"]),
        .trait(name: "ProductCatalog", description: "Reading product catalogs in YAML."),
        .trait(
            name: "SQLite", description: "The SQLite engine of TransactionStore.", enabledTraits: ["ProductCatalog"]),
        .trait(
            name: "Server", description: "The HTTP endpoint.", enabledTraits: ["ProductCatalog"]),
        .trait(
            name: "CommandLine", description: "The command legacy-receipts.", enabledTraits: ["SQLite", "Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        // Code that several targets below share. It has no dependencies and only package access.
        .target(name: "Encodings", swiftSettings: settings),
        .target(name: "AppStoreModels", swiftSettings: settings),
        // The result of a verified signature. LegacyReceipts and AppStoreServer share these types, and neither imports the
        // other.
        .target(name: "AppStoreTrust", dependencies: ["Encodings", crypto], swiftSettings: settings),
        .target(
            name: "LegacyReceipts",
            dependencies: ["Encodings", "AppStoreTrust", crypto, cryptoExtras],
            swiftSettings: settings),
        .target(name: "ProductCatalog", dependencies: ["Encodings", "AppStoreModels", yams], swiftSettings: settings),
        .target(
            name: "Purchases", dependencies: ["Encodings", "AppStoreModels", "LegacyReceipts", "ProductCatalog"],
            swiftSettings: settings),
        .systemLibrary(
            name: "CZlib", path: "Sources/CZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "CBzip2", path: "Sources/CBzip2", providers: [.apt(["libbz2-dev"]), .brew(["bzip2"])]),
        .systemLibrary(
            name: "CZstd", path: "Sources/CZstd", pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        .target(
            name: "Migration",
            dependencies: [
                "CBzip2", "CZlib", "CZstd",
                "Encodings", "AppStoreModels", "LegacyReceipts", "ProductCatalog", "Purchases", "AppStoreServer",
                "TransactionStore", "SQLiteTransactionStore", "PostgreSQLTransactionStore", "ReplyComparison", crypto,
            ],
            swiftSettings: settings),
        .target(
            name: "ReceiptForge",
            dependencies: ["Encodings", "AppStoreModels", crypto, cryptoExtras],
            // Embedded in the code, like the server's description, so that a program with the forge needs no other
            // files.
            resources: [.embedInCode("Certificates/TestKeys.txt")],
            swiftSettings: settings),
        .target(
            name: "TransactionStore",
            dependencies: ["Encodings", "AppStoreModels", "LegacyReceipts", "Purchases", crypto],
            swiftSettings: settings),
        // The rules of every engine, for the tests of an engine.
        .target(
            name: "TransactionStoreConformance",
            dependencies: [
                "Encodings", "AppStoreModels", "LegacyReceipts", "ProductCatalog", "Purchases", "TransactionStore",
                "TestSupport",
            ],
            swiftSettings: settings),
        .target(
            name: "SQLiteTransactionStore",
            dependencies: ["AppStoreModels", "Purchases", "TransactionStore", grdb, grdbSQLite],
            swiftSettings: settings),
        .systemLibrary(
            name: "CLibPQ", path: "Sources/CLibPQ", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "PostgreSQLTransactionStore",
            dependencies: ["AppStoreModels", "Purchases", "TransactionStore", "CLibPQ"],
            swiftSettings: settings),
        .target(
            name: "AppStoreServer",
            dependencies: [
                "Encodings", "AppStoreModels", "AppStoreTrust", crypto, server("AsyncHTTPClient", "async-http-client"),
                server("NIOCore", "swift-nio"), server("NIOPosix", "swift-nio"), server("X509", "swift-certificates"),
                server("SwiftASN1", "swift-asn1"),
            ],
            swiftSettings: settings),
        // Needs AppStoreServer's HTTP client, and no server framework.
        .target(
            name: "AppStoreSync",
            dependencies: [
                "Encodings", "AppStoreModels", "LegacyReceipts", "ProductCatalog", "Purchases", "AppStoreServer",
                "TransactionStore",
            ],
            swiftSettings: settings),
        // A local App Store for tests. It signs with ReceiptForge's test authority only.
        .target(
            name: "AppStoreSandbox",
            dependencies: [
                "Encodings", "AppStoreModels", "AppStoreServer", "ProductCatalog", "Purchases", "ReceiptForge", crypto,
                server("AsyncHTTPClient", "async-http-client"), server("Hummingbird", "hummingbird"),
                server("HTTPTypes", "swift-http-types"), server("Logging", "swift-log"), server("NIOCore", "swift-nio"),
                server("NIOPosix", "swift-nio"), server("ServiceLifecycle", "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .target(
            name: "VerifyReceipt",
            dependencies: [
                "Encodings", "AppStoreModels", "AppStoreTrust", "LegacyReceipts", "ProductCatalog", "Purchases",
                "TransactionStore",
            ],
            swiftSettings: settings),
        .target(
            name: "ReplyComparison",
            dependencies: ["Encodings", "AppStoreModels", "LegacyReceipts", "Purchases", "VerifyReceipt", crypto],
            swiftSettings: settings),
        .target(
            name: "VerifyReceiptServer",
            dependencies: [
                "Encodings", "AppStoreModels", "AppStoreServer", "AppStoreSync", "AppStoreTrust", "LegacyReceipts",
                "ProductCatalog", "Purchases", "TransactionStore", "VerifyReceipt", "ReplyComparison",
                server("AsyncHTTPClient", "async-http-client"),
                server("Configuration", "swift-configuration"), server("CoreMetrics", "swift-metrics"),
                server("HummingbirdCore", "hummingbird"), server("HummingbirdHTTP2", "hummingbird"),
                server("HTTPTypes", "swift-http-types"), server("Logging", "swift-log"), server("NIOCore", "swift-nio"),
                server("NIOHTTP1", "swift-nio"), server("NIOHTTPTypes", "swift-nio-extras"),
                server("NIOPosix", "swift-nio"), server("NIOSSL", "swift-nio-ssl"), server("NIOTLS", "swift-nio"),
                server("ServiceLifecycle", "swift-service-lifecycle"),
            ],
            // In the binary: the server needs no files beside it.
            resources: [.embedInCode("Admin/openapi.json")],
            swiftSettings: settings),
        .executableTarget(
            name: "legacy-receipts",
            dependencies: [
                "Encodings", "AppStoreModels", "LegacyReceipts", "ProductCatalog", "Purchases", "Migration",
                "TransactionStore", "SQLiteTransactionStore", "PostgreSQLTransactionStore", "VerifyReceipt",
                "ReplyComparison", "VerifyReceiptServer", "AppStoreServer", "AppStoreSync", "AppStoreSandbox", crypto,
                server("Logging", "swift-log"), server("ServiceLifecycle", "swift-service-lifecycle"),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["CommandLine"])),
                .product(name: "Mustache", package: "swift-mustache", condition: .when(traits: ["CommandLine"])),
            ],
            // In the binary: the command needs no files beside it.
            resources: [
                .embedInCode("Inspector/inspector.css"), .embedInCode("Inspector/inspector.html"),
                .embedInCode("Inspector/inspector.js"), .embedInCode("Report/report.html"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "legacy-receipts-fixtures",
            dependencies: [
                "AppStoreModels", "LegacyReceipts", "ProductCatalog", "Migration", "ReceiptForge", "ForgedTrust",
                "TestSupport",
            ],
            path: "tools/fixtures",
            swiftSettings: settings),

        // A program that writes to a store until a test kills it.
        .executableTarget(
            name: "legacy-receipts-store-loader",
            dependencies: [
                "AppStoreModels", "Purchases", "TransactionStore", "SQLiteTransactionStore",
                "PostgreSQLTransactionStore",
            ],
            path: "Tests/StoreLoader", swiftSettings: settings),

        // Other implementations to compare with, for the tests only: nothing above may depend on these.
        .systemLibrary(
            name: "COpenSSL", path: "Tests/COpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .target(
            name: "OpenSSLOracle", dependencies: ["COpenSSL"], path: "Tests/OpenSSLOracle", swiftSettings: testSettings),
        .target(name: "SharedReceipts", path: "Tests/SharedReceipts", swiftSettings: testSettings),
        // Code that several test targets share. It imports no test framework.
        .target(name: "TestSupport", dependencies: ["CSpawn"], path: "Tests/Support", swiftSettings: settings),
        .target(name: "CSpawn", path: "Tests/CSpawn"),
        .target(
            name: "TestCompression", dependencies: ["CBzip2", "CZstd"], path: "Tests/Compression",
            swiftSettings: testSettings),
        // Traits of tests. Only test targets may depend on it, because it imports the test framework.
        .target(
            name: "TestTraits", dependencies: ["TestSupport"], path: "Tests/Traits", swiftSettings: testSettings),
        // Trust in what ReceiptForge signs.
        .target(
            name: "ForgedTrust", dependencies: ["LegacyReceipts", "ReceiptForge"], path: "Tests/ForgedTrust",
            swiftSettings: testSettings),
        // Compares the answers about one customer with each other. It imports no test framework.
        .target(
            name: "AnswerAgreement",
            dependencies: ["AppStoreModels", "Migration", "ProductCatalog", "Purchases", "TransactionStore"],
            path: "Tests/AnswerAgreement", swiftSettings: testSettings),
        .target(
            name: "TestDatabase", dependencies: ["TestSupport"], path: "Tests/TestDatabase", swiftSettings: testSettings
        ),

        .testTarget(
            name: "EncodingsTests", dependencies: ["Encodings", "TestSupport"], swiftSettings: testSettings),
        .testTarget(
            name: "AppStoreModelsTests", dependencies: ["AppStoreModels", "TestSupport", "TestTraits"],
            swiftSettings: testSettings),
        .testTarget(
            name: "LegacyReceiptsTests",
            dependencies: [
                "TestSupport", "TestTraits", "ForgedTrust",
                "LegacyReceipts", "ReceiptForge", "OpenSSLOracle", "SharedReceipts",
                crypto,
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "PurchasesTests",
            dependencies: [
                "Encodings", "AppStoreModels", "LegacyReceipts", "ProductCatalog", "Purchases", "SharedReceipts",
                "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "MigrationTests",
            dependencies: [
                "TestCompression", "TestSupport", "TestTraits",
                "Encodings", "AppStoreModels", "LegacyReceipts", "ProductCatalog", "Purchases", "Migration",
                "ReceiptForge", "SharedReceipts", "TransactionStore", "TransactionStoreConformance",
                "SQLiteTransactionStore", "PostgreSQLTransactionStore", "TestDatabase", grdb,
            ],
            exclude: ["Export/Vendors", "ProductCatalog/Examples"],
            swiftSettings: testSettings),
        .testTarget(
            name: "ReceiptForgeTests",
            dependencies: ["ReceiptForge", "SharedReceipts", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "TransactionStoreTests",
            dependencies: [
                "TestSupport",
                "AppStoreModels", "LegacyReceipts", "ReceiptForge", "ProductCatalog", "Purchases", "TransactionStore",
                "TransactionStoreConformance",
                "SQLiteTransactionStore", "PostgreSQLTransactionStore", "TestDatabase", grdb,
            ],
            swiftSettings: testSettings),
        // An engine as another package would write it: without access to what is not public.
        .testTarget(
            name: "ForeignEngineTests",
            dependencies: ["Purchases", "TransactionStore", "TransactionStoreConformance"],
            packageAccess: false, swiftSettings: testSettings),
        .testTarget(
            name: "AppStoreServerTests",
            dependencies: [
                "TestSupport", "TestTraits",
                "AppStoreModels", "AppStoreServer", "ReceiptForge", "SharedReceipts", crypto,
                server("NIOCore", "swift-nio"), server("NIOPosix", "swift-nio"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "AppStoreSyncTests",
            dependencies: [
                "TestSupport",
                "AppStoreModels", "AppStoreServer", "AppStoreSync", "ProductCatalog", "Purchases", "ReceiptForge",
                "TransactionStore", "SQLiteTransactionStore", crypto,
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "VerifyReceiptTests",
            dependencies: [
                "Encodings", "TestSupport", "TestTraits", "ForgedTrust", "AnswerAgreement", "TestDatabase",
                "AppStoreModels", "LegacyReceipts", "ReceiptForge", "ProductCatalog", "Purchases", "TransactionStore",
                "SQLiteTransactionStore", "PostgreSQLTransactionStore", "VerifyReceipt", "ReplyComparison", "Migration",
                "SharedReceipts",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "VerifyReceiptServerTests",
            dependencies: [
                "TestSupport",
                "legacy-receipts", "AppStoreModels", "AppStoreServer", "AppStoreSync", "AppStoreTrust",
                "LegacyReceipts", "ProductCatalog", "ReceiptForge",
                "Purchases", "TransactionStore", "SQLiteTransactionStore", "PostgreSQLTransactionStore",
                "VerifyReceipt", "VerifyReceiptServer", "SharedReceipts", "TestDatabase", crypto, grdb,
                server("AsyncHTTPClient", "async-http-client"),
                server("HTTPTypes", "swift-http-types"), server("Logging", "swift-log"),
                server("CoreMetrics", "swift-metrics"), server("MetricsTestKit", "swift-metrics"),
                server("NIOCore", "swift-nio"),
                server("NIOPosix", "swift-nio"),
                server("NIOSSL", "swift-nio-ssl"), server("ServiceLifecycle", "swift-service-lifecycle"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "AppStoreSandboxTests",
            dependencies: [
                "TestSupport", "AnswerAgreement",
                "AppStoreModels", "AppStoreSandbox", "AppStoreServer", "AppStoreSync", "LegacyReceipts", "ReceiptForge",
                "ProductCatalog", "Purchases",
                "TransactionStore", "SQLiteTransactionStore", "VerifyReceipt", "VerifyReceiptServer",
                server("AsyncHTTPClient", "async-http-client"), server("Hummingbird", "hummingbird"),
                server("Logging", "swift-log"),
                server("NIOCore", "swift-nio"), server("ServiceLifecycle", "swift-service-lifecycle"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "OpenSSLOracleTests",
            dependencies: [
                "TestSupport",
                "OpenSSLOracle", "COpenSSL", "SharedReceipts",
                crypto, cryptoExtras,
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "AppStoreModels", "TestSupport", "TestTraits", "AppStoreServer", "LegacyReceipts", "ProductCatalog",
                "Purchases", "Migration",
                "ReceiptForge", "ReplyComparison", "SQLiteTransactionStore",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "Encodings", "TestCompression", "TestSupport",
                "legacy-receipts", "AppStoreModels", "LegacyReceipts", "Purchases", "ReceiptForge",
                "TransactionStore", "SQLiteTransactionStore", "SharedReceipts", "VerifyReceiptServer",
                "PostgreSQLTransactionStore", "TestDatabase", grdb, crypto,
            ],
            swiftSettings: testSettings),
    ]
)
