internal import ProductCatalog

/// The configuration of one bundle id, prepared for all requests.
final class ConfiguredApp: Sendable {
    let secrets: [SharedSecret]
    let appleId: Int64?
    let catalog: ProductCatalog?
    let freshness: Freshness?
    let order: EndpointConfiguration.Order?
    let sandboxAtProduction: EndpointConfiguration.SandboxAtProduction?
    let answersValidations: Bool

    init(_ configurations: [AppConfiguration]) {
        secrets = configurations.flatMap(\.sharedSecrets)
        appleId = configurations.lazy.compactMap(\.appleId).first
        freshness = configurations.lazy.compactMap(\.freshness).first
        order = configurations.lazy.compactMap(\.order).first
        sandboxAtProduction = configurations.lazy.compactMap(\.sandboxAtProduction).first
        answersValidations = configurations.contains(where: \.answersValidations)
        catalog = configurations.lazy.compactMap(\.catalog).first
    }
}
