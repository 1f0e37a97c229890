/// Which of Apple's two endpoints a request was sent to (Reference.md V1.1).
public enum EndpointEnvironment: String, Sendable, CaseIterable {
    /// `buy.itunes.apple.com`
    case production = "Production"
    /// `sandbox.itunes.apple.com`
    case sandbox = "Sandbox"
}
