/// The part of the description about App Store Server Notifications.
extension OpenAPIDescription {
    static let notificationPaths = #"""
            "/notifications/v2": {
              "post": {
                "operationId": "notificationV2",
                "summary": "Take in an App Store Server Notification, version 2.",
                "description": "200 means that the notification is stored. The App Store sends again after 503. 404 where notifications are switched off.",
                "parameters": [{"$ref": "#/components/parameters/RequestId"}],
                "requestBody": {"$ref": "#/components/requestBodies/NotificationV2"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Stored"},
                  "400": {"$ref": "#/components/responses/NotANotification"},
                  "403": {"$ref": "#/components/responses/Refused"},
                  "404": {"$ref": "#/components/responses/Refused"},
                  "408": {"$ref": "#/components/responses/TooSlow"},
                  "413": {"$ref": "#/components/responses/TooLarge"},
                  "415": {"$ref": "#/components/responses/Encoded"},
                  "503": {"$ref": "#/components/responses/SendAgain"}
                }
              }
            },
            "/notifications/v1": {
              "post": {
                "operationId": "notificationV1",
                "summary": "Take in an App Store Server Notification, version 1.",
                "description": "As version 2; off unless configured (notifications.v1).",
                "parameters": [{"$ref": "#/components/parameters/RequestId"}],
                "requestBody": {"$ref": "#/components/requestBodies/NotificationV1"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Stored"},
                  "400": {"$ref": "#/components/responses/NotANotification"},
                  "403": {"$ref": "#/components/responses/Refused"},
                  "404": {"$ref": "#/components/responses/Refused"},
                  "408": {"$ref": "#/components/responses/TooSlow"},
                  "413": {"$ref": "#/components/responses/TooLarge"},
                  "415": {"$ref": "#/components/responses/Encoded"},
                  "503": {"$ref": "#/components/responses/SendAgain"}
                }
              }
            }
        """#

    static let notificationBodies = #"""
              "NotificationV2": {
                "required": true,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NotificationV2"}}}
              },
              "NotificationV1": {
                "required": true,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NotificationV1"}}}
              }
        """#

    static let notificationResponses = #"""
              "Stored": {
                "description": "The notification is stored, now or before.",
                "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
                "content": {"application/json": {"schema": {"type": "object", "maxProperties": 0}}}
              },
              "NotANotification": {
                "description": "The body is not a notification, or not HTTP: then the connection is closed.",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "Refused": {
                "description": "403: not genuine, a wrong shared secret, or of an app that is not served here. 404: switched off.",
                "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "SendAgain": {
                "description": "There is no room for the notification, or the store did not take it.",
                "headers": {
                  "X-Request-Id": {"$ref": "#/components/headers/RequestId"},
                  "Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}
                },
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              }
        """#

    static let notificationSchemas = #"""
              "NotificationV2": {
                "type": "object",
                "required": ["signedPayload"],
                "properties": {
                  "signedPayload": {
                    "type": "string",
                    "pattern": "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$",
                    "description": "The notification as compact JWS (responseBodyV2)."
                  }
                }
              },
              "NotificationV1": {
                "type": "object",
                "required": ["notification_type", "password"],
                "properties": {
                  "notification_type": {"type": "string"},
                  "password": {"type": "string", "description": "The app's shared secret, or the account's."},
                  "environment": {"type": "string"},
                  "bid": {"type": "string"},
                  "unified_receipt": {"type": "object"}
                }
              }
        """#
}
