// swift-tools-version: 6.2
import PackageDescription

// Apart from the main package, so that nobody who builds that one needs libFuzzer. See README.md.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "legacy-receipts", path: "../..")],
    targets: [
        .executableTarget(
            name: "fuzz-receipts",
            dependencies: [
                .product(name: "LegacyReceipts", package: "legacy-receipts"),
                .product(name: "ReceiptForge", package: "legacy-receipts"),
            ],
            path: "Sources/fuzz",
            swiftSettings: settings + [.unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
        .executableTarget(
            name: "write-corpus",
            dependencies: [
                .product(name: "LegacyReceipts", package: "legacy-receipts"),
                .product(name: "ReceiptForge", package: "legacy-receipts"),
            ],
            path: "Sources/corpus", swiftSettings: settings),
    ]
)
