// swift-tools-version: 6.2
import PackageDescription

// A separate package, so the main package builds without libFuzzer. See README.md.
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
        .target(name: "CFuzzer"),
        .executableTarget(
            name: "fuzz-receipts",
            dependencies: [
                "CFuzzer",
                .product(name: "LegacyReceipts", package: "legacy-receipts"),
                .product(name: "ReceiptForge", package: "legacy-receipts"),
            ],
            path: "Sources/fuzz",
            swiftSettings: settings,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]),
    ]
)
