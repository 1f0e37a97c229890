internal import AppStoreServer

/// The endpoint of a path.
struct APIRoute {
    let endpoint: APIEndpoint
    let parameters: [String]

    // Also of endpoints that the sandbox does not answer: retention messaging and Advanced Commerce.
    private static let templates = APIEndpoint.allCases.map { endpoint in
        (endpoint, endpoint.pathTemplate.split(separator: "/").map(String.init))
    }

    /// The endpoint with this method and path; of several, the one with the fewest parameters.
    init?(_ method: String, _ path: [String]) {
        var best: (endpoint: APIEndpoint, parameters: [String])?
        for (endpoint, template) in Self.templates where endpoint.method == method && template.count == path.count {
            var parameters: [String] = []
            let fits = zip(template, path).allSatisfy { expected, part in
                guard expected == "{}" else { return expected == part }
                parameters.append(part)
                return !part.isEmpty
            }
            guard fits, parameters.count < best?.parameters.count ?? .max else { continue }
            best = (endpoint, parameters)
        }
        guard let best else { return nil }
        endpoint = best.endpoint
        parameters = best.parameters
    }
}
