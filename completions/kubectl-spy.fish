# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_spy_global_optspecs
    string join \n kubeconfig= kuberc= context= cluster= user= n/namespace= s/server= token= username= password= as= as-group= as-uid= as-user-extra= certificate-authority= client-certificate= client-key= insecure-skip-tls-verify= tls-server-name= disable-compression= request-timeout= cache-dir= color= ascii= h/help
end

function __fish_kubectl_spy_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kubectl_spy_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kubectl_spy_using_subcommand
    set -l cmd (__fish_kubectl_spy_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l kubeconfig -d 'Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l kuberc -d 'Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l context -d 'Use this kubeconfig context (default: the current context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l cluster -d 'Use this kubeconfig cluster (default: the cluster of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l user -d 'Use this kubeconfig user (default: the user of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -s n -l namespace -d 'Look in this namespace (default: the namespace of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -s s -l server -d 'Connect to the API server at this address, for example localhost:6443' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l token -d 'Authenticate with this bearer token' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l username -d 'Authenticate with this user name (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l password -d 'Authenticate with this password (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l as -d 'Impersonate this user, for example jane' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l as-group -d 'Impersonate this group, for example system:masters; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l as-uid -d 'Impersonate this user ID' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l as-user-extra -d 'Impersonate with this extra field, for example reason=test; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l certificate-authority -d 'Trust the certificate authority in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l client-certificate -d 'Authenticate with the client certificate in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l client-key -d 'Authenticate with the client key in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l tls-server-name -d 'Check the server\'s certificate against this name (default: the host of the URL)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l request-timeout -d 'Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no limit' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l cache-dir -d 'Keep the schemas of custom kinds in this directory; empty: keep none (default: $KUBECACHEDIR, then ~/.kube/cache)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l color -d 'Choose when to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l ascii -d 'Use ASCII symbols only, for example * instead of ●' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -s h -l help -d 'Print help'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "demo" -d 'Play a scenario on an embedded cluster and watch it; no Kubernetes needed'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "changes" -d 'Show what changed in objects, version by version, and who changed it'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "status" -d 'Show whether objects and everything they own are well, and if not, why'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "completion" -d 'Print the completion script of a shell'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "options" -d 'List the flags that every command takes'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "trace" -d 'What is it connected to, and where does the chain break?'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "version" -d 'Print the versions of this program and of the API server'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l list -d 'List the scenarios and exit' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l speed -d 'Play this many times faster, for example 4' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l kubeconfig -d 'Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l kuberc -d 'Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l context -d 'Use this kubeconfig context (default: the current context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l cluster -d 'Use this kubeconfig cluster (default: the cluster of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l user -d 'Use this kubeconfig user (default: the user of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -s n -l namespace -d 'Look in this namespace (default: the namespace of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -s s -l server -d 'Connect to the API server at this address, for example localhost:6443' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l token -d 'Authenticate with this bearer token' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l username -d 'Authenticate with this user name (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l password -d 'Authenticate with this password (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l as -d 'Impersonate this user, for example jane' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l as-group -d 'Impersonate this group, for example system:masters; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l as-uid -d 'Impersonate this user ID' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l as-user-extra -d 'Impersonate with this extra field, for example reason=test; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l certificate-authority -d 'Trust the certificate authority in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l client-certificate -d 'Authenticate with the client certificate in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l client-key -d 'Authenticate with the client key in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l tls-server-name -d 'Check the server\'s certificate against this name (default: the host of the URL)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l request-timeout -d 'Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no limit' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l cache-dir -d 'Keep the schemas of custom kinds in this directory; empty: keep none (default: $KUBECACHEDIR, then ~/.kube/cache)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l color -d 'Choose when to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l ascii -d 'Use ASCII symbols only, for example * instead of ●' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -s h -l help -d 'Print help'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -a "changes" -d 'Show what changed in objects, version by version, and who changed it'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -a "status" -d 'Show whether objects and everything they own are well, and if not, why'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -a "trace" -d 'What is it connected to, and where does the chain break?'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s l -l selector -d 'Show only objects with these labels, for example app=web,tier!=cache' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l field-selector -d 'Show only objects with these field values, for example status.phase=Running' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s A -l all-namespaces -d 'Look in all namespaces, even if -n names one' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s f -l filename -d 'Show the objects that these manifests name: a file, a directory of .json, .yaml and .yml files, or - for standard input; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s R -l recursive -d 'With -f: read subdirectories too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s k -l kustomize -d 'Show the objects that this kustomization names; needs kubectl, which builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l from -d 'Read objects or watch events (YAML or JSON) from this file instead of a cluster; - is standard input' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l now -d 'With --from: use this as the current time, for example 2026-03-02T12:00:00Z' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s w -l watch -d 'Keep watching until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l once -d 'Print the current state and exit; same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l for -d 'Exit when every object meets this goal; repeat to require several in order. current (or ready): it and its dependents are Current. The other goals are those of kubectl wait: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l timeout -d 'Exit after this time, for example 30s or 5m; 0: check once; negative: no limit (default)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l exit-code -d 'Exit with 1 if something changed (changes) or is not well (status, trace), and with 4 on an error' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l count -d 'Exit after this many versions, for example 5 (default: no limit)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s o -l output -d 'Choose the output format' -r -f -a "paths\t'One line for each change, with its path'
tree\t'The object as JSON: changed lines are marked, other parts are left out and counted'
full\t'The object as JSON: changed lines are marked, nothing is left out'
diff\t'A unified diff of the object\'s YAML, for pagers such as delta'
json\t'One JSON record per line, for programs'
yaml\t'Every shown version as a whole YAML document'
name\t'The object\'s name for every shown version, in the form of kubectl\'s -o name'
json-patch\t'One JSON Patch (RFC 6902) per line, from each version to the next, noise included'
merge-patch\t'One JSON Merge Patch (RFC 7396) per line, from each version to the next, noise included'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l only -d 'Show only changes at or below this path, for example status, .spec.replicas or spec.**.image; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l ignore -d 'Hide changes at or below this path, for example status; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l by -d 'Show only changes by this field manager, for example kubectl-edit; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l full -d 'Print new objects whole (default: a summary of their fields)' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l show-noise -d 'Also show noise: all of it, or only these classes, for example heartbeat,order (default: hidden and counted)' -r -f -a "all\t'Everything'
version\t'Counters of the server: resourceVersion, generation, observedGeneration'
managedFields\t'metadata.managedFields: the record of who wrote which field'
heartbeat\t'Probe times, heartbeat times and renewed leases'
order\t'A new order of items in a list whose order has no meaning'
equivalent\t'Another spelling of the same quantity, time or number'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l show-managed-fields -d 'Also show changes of metadata.managedFields (default: hidden and counted)' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l list-key -d 'Match items of the lists at PATH by these fields, for example .spec.servers=host,port; repeat for several (default: the keys of the API server\'s schema)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l show-secrets -d 'Show the values of Secrets (default: hidden). Text formats decode them; json, yaml and patches keep base64' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l no-fold -d 'Do not collapse long changes (default on a terminal: over 200 lines)' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l since -d 'Start this far back (10m, 1h30m), as far back as the server has (all), or from now (0). Without TYPE, show every kind in the namespace. Default: the last 20 versions of each named object' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l since-rv -d 'Start after this resourceVersion, for example 4711' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l kubeconfig -d 'Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l kuberc -d 'Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l context -d 'Use this kubeconfig context (default: the current context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l cluster -d 'Use this kubeconfig cluster (default: the cluster of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l user -d 'Use this kubeconfig user (default: the user of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s n -l namespace -d 'Look in this namespace (default: the namespace of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s s -l server -d 'Connect to the API server at this address, for example localhost:6443' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l token -d 'Authenticate with this bearer token' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l username -d 'Authenticate with this user name (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l password -d 'Authenticate with this password (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l as -d 'Impersonate this user, for example jane' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l as-group -d 'Impersonate this group, for example system:masters; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l as-uid -d 'Impersonate this user ID' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l as-user-extra -d 'Impersonate with this extra field, for example reason=test; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l certificate-authority -d 'Trust the certificate authority in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l client-certificate -d 'Authenticate with the client certificate in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l client-key -d 'Authenticate with the client key in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l tls-server-name -d 'Check the server\'s certificate against this name (default: the host of the URL)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l request-timeout -d 'Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no limit' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l cache-dir -d 'Keep the schemas of custom kinds in this directory; empty: keep none (default: $KUBECACHEDIR, then ~/.kube/cache)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l color -d 'Choose when to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l ascii -d 'Use ASCII symbols only, for example * instead of ●' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s l -l selector -d 'Show only objects with these labels, for example app=web,tier!=cache' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l field-selector -d 'Show only objects with these field values, for example status.phase=Running' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s A -l all-namespaces -d 'Look in all namespaces, even if -n names one' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s f -l filename -d 'Show the objects that these manifests name: a file, a directory of .json, .yaml and .yml files, or - for standard input; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s R -l recursive -d 'With -f: read subdirectories too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s k -l kustomize -d 'Show the objects that this kustomization names; needs kubectl, which builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l from -d 'Read objects or watch events (YAML or JSON) from this file instead of a cluster; - is standard input' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l now -d 'With --from: use this as the current time, for example 2026-03-02T12:00:00Z' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s w -l watch -d 'Keep watching until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l once -d 'Print the current state and exit; same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l for -d 'Exit when every object meets this goal; repeat to require several in order. current (or ready): it and its dependents are Current. The other goals are those of kubectl wait: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l timeout -d 'Exit after this time, for example 30s or 5m; 0: check once; negative: no limit (default)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l exit-code -d 'Exit with 1 if something changed (changes) or is not well (status, trace), and with 4 on an error' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s o -l output -d 'Choose the output format' -r -f -a "text\t'A live table; without a terminal, one line for each change of state'
wide\t'The same with all columns, however narrow the terminal is'
json\t'One JSON record per line, for each change of state'
yaml\t'Each requested object as a YAML document, again for each change of state'
name\t'The name of each requested object in the form of kubectl\'s -o name, again for each change of state'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l rules -d 'Choose the health rules' -r -f -a "spy\t'The rules of kstatus, and Failed for problems that will not fix themselves'
kstatus\t'Exactly the rules of kstatus (sigs.k8s.io/cli-utils)'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l show-idle -d 'Also show idle replicasets kept for rollback (default: counted)' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l explain -d 'Show the rule behind each state, and the document that the rule comes from' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l unhealthy -d 'Show only objects that are not Current, and the owners above them' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l no-headers -d 'Leave out the titles of the columns and the counts' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l kubeconfig -d 'Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l kuberc -d 'Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l context -d 'Use this kubeconfig context (default: the current context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l cluster -d 'Use this kubeconfig cluster (default: the cluster of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l user -d 'Use this kubeconfig user (default: the user of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s n -l namespace -d 'Look in this namespace (default: the namespace of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s s -l server -d 'Connect to the API server at this address, for example localhost:6443' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l token -d 'Authenticate with this bearer token' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l username -d 'Authenticate with this user name (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l password -d 'Authenticate with this password (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l as -d 'Impersonate this user, for example jane' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l as-group -d 'Impersonate this group, for example system:masters; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l as-uid -d 'Impersonate this user ID' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l as-user-extra -d 'Impersonate with this extra field, for example reason=test; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l certificate-authority -d 'Trust the certificate authority in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l client-certificate -d 'Authenticate with the client certificate in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l client-key -d 'Authenticate with the client key in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l tls-server-name -d 'Check the server\'s certificate against this name (default: the host of the URL)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l request-timeout -d 'Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no limit' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l cache-dir -d 'Keep the schemas of custom kinds in this directory; empty: keep none (default: $KUBECACHEDIR, then ~/.kube/cache)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l color -d 'Choose when to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l ascii -d 'Use ASCII symbols only, for example * instead of ●' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s l -l selector -d 'Show only objects with these labels, for example app=web,tier!=cache' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l field-selector -d 'Show only objects with these field values, for example status.phase=Running' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s A -l all-namespaces -d 'Look in all namespaces, even if -n names one' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s f -l filename -d 'Show the objects that these manifests name: a file, a directory of .json, .yaml and .yml files, or - for standard input; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s R -l recursive -d 'With -f: read subdirectories too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s k -l kustomize -d 'Show the objects that this kustomization names; needs kubectl, which builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l from -d 'Read objects or watch events (YAML or JSON) from this file instead of a cluster; - is standard input' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l now -d 'With --from: use this as the current time, for example 2026-03-02T12:00:00Z' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s o -l output -d 'Choose the output format' -r -f -a "text\t'A live view; without a terminal, one line for each change'
json\t'The whole graph as one JSON record per line, for each change'
dot\t'The graph for Graphviz, once'
mermaid\t'The graph as a Mermaid flowchart, once'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l up -d 'Show only what is in front of the object and what uses it' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l down -d 'Show only what is behind the object and what it uses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l depth -d 'Follow at most this many relations, one after the other (default: all)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l relations -d 'Follow only these relations, for example volume,backend' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s w -l watch -d 'Keep watching until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l once -d 'Print the current state and exit; same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l for -d 'Exit when every object meets this goal; repeat to require several in order. current (or ready): it and its dependents are Current. The other goals are those of kubectl wait: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l timeout -d 'Exit after this time, for example 30s or 5m; 0: check once; negative: no limit (default)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l exit-code -d 'Exit with 1 if something changed (changes) or is not well (status, trace), and with 4 on an error' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l explain -d 'Show the rules behind the states, and the documents that they come from' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l kubeconfig -d 'Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l kuberc -d 'Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l context -d 'Use this kubeconfig context (default: the current context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l cluster -d 'Use this kubeconfig cluster (default: the cluster of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l user -d 'Use this kubeconfig user (default: the user of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s n -l namespace -d 'Look in this namespace (default: the namespace of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s s -l server -d 'Connect to the API server at this address, for example localhost:6443' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l token -d 'Authenticate with this bearer token' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l username -d 'Authenticate with this user name (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l password -d 'Authenticate with this password (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l as -d 'Impersonate this user, for example jane' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l as-group -d 'Impersonate this group, for example system:masters; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l as-uid -d 'Impersonate this user ID' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l as-user-extra -d 'Impersonate with this extra field, for example reason=test; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l certificate-authority -d 'Trust the certificate authority in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l client-certificate -d 'Authenticate with the client certificate in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l client-key -d 'Authenticate with the client key in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l tls-server-name -d 'Check the server\'s certificate against this name (default: the host of the URL)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l request-timeout -d 'Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no limit' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l cache-dir -d 'Keep the schemas of custom kinds in this directory; empty: keep none (default: $KUBECACHEDIR, then ~/.kube/cache)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l color -d 'Choose when to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l ascii -d 'Use ASCII symbols only, for example * instead of ●' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s l -l selector -d 'Show only objects with these labels, for example app=web,tier!=cache' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l field-selector -d 'Show only objects with these field values, for example status.phase=Running' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s A -l all-namespaces -d 'Look in all namespaces, even if -n names one' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s f -l filename -d 'Show the objects that these manifests name: a file, a directory of .json, .yaml and .yml files, or - for standard input; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s R -l recursive -d 'With -f: read subdirectories too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s k -l kustomize -d 'Show the objects that this kustomization names; needs kubectl, which builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l from -d 'Read objects or watch events (YAML or JSON) from this file instead of a cluster; - is standard input' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l now -d 'With --from: use this as the current time, for example 2026-03-02T12:00:00Z' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s w -l watch -d 'Keep watching until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l once -d 'Print the current state and exit; same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l for -d 'Exit when every object meets this goal; repeat to require several in order. current (or ready): it and its dependents are Current. The other goals are those of kubectl wait: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l timeout -d 'Exit after this time, for example 30s or 5m; 0: check once; negative: no limit (default)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l exit-code -d 'Exit with 1 if something changed (changes) or is not well (status, trace), and with 4 on an error' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l count -d 'Exit after this many versions, for example 5 (default: no limit)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s o -l output -d 'Choose the output format' -r -f -a "paths\t'One line for each change, with its path'
tree\t'The object as JSON: changed lines are marked, other parts are left out and counted'
full\t'The object as JSON: changed lines are marked, nothing is left out'
diff\t'A unified diff of the object\'s YAML, for pagers such as delta'
json\t'One JSON record per line, for programs'
yaml\t'Every shown version as a whole YAML document'
name\t'The object\'s name for every shown version, in the form of kubectl\'s -o name'
json-patch\t'One JSON Patch (RFC 6902) per line, from each version to the next, noise included'
merge-patch\t'One JSON Merge Patch (RFC 7396) per line, from each version to the next, noise included'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l only -d 'Show only changes at or below this path, for example status, .spec.replicas or spec.**.image; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l ignore -d 'Hide changes at or below this path, for example status; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l by -d 'Show only changes by this field manager, for example kubectl-edit; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l full -d 'Print new objects whole (default: a summary of their fields)' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l show-noise -d 'Also show noise: all of it, or only these classes, for example heartbeat,order (default: hidden and counted)' -r -f -a "all\t'Everything'
version\t'Counters of the server: resourceVersion, generation, observedGeneration'
managedFields\t'metadata.managedFields: the record of who wrote which field'
heartbeat\t'Probe times, heartbeat times and renewed leases'
order\t'A new order of items in a list whose order has no meaning'
equivalent\t'Another spelling of the same quantity, time or number'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l show-managed-fields -d 'Also show changes of metadata.managedFields (default: hidden and counted)' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l list-key -d 'Match items of the lists at PATH by these fields, for example .spec.servers=host,port; repeat for several (default: the keys of the API server\'s schema)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l show-secrets -d 'Show the values of Secrets (default: hidden). Text formats decode them; json, yaml and patches keep base64' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l no-fold -d 'Do not collapse long changes (default on a terminal: over 200 lines)' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l since -d 'Start this far back (10m, 1h30m), as far back as the server has (all), or from now (0). Without TYPE, show every kind in the namespace. Default: the last 20 versions of each named object' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l since-rv -d 'Start after this resourceVersion, for example 4711' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l kubeconfig -d 'Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l kuberc -d 'Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l context -d 'Use this kubeconfig context (default: the current context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l cluster -d 'Use this kubeconfig cluster (default: the cluster of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l user -d 'Use this kubeconfig user (default: the user of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s n -l namespace -d 'Look in this namespace (default: the namespace of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s s -l server -d 'Connect to the API server at this address, for example localhost:6443' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l token -d 'Authenticate with this bearer token' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l username -d 'Authenticate with this user name (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l password -d 'Authenticate with this password (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l as -d 'Impersonate this user, for example jane' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l as-group -d 'Impersonate this group, for example system:masters; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l as-uid -d 'Impersonate this user ID' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l as-user-extra -d 'Impersonate with this extra field, for example reason=test; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l certificate-authority -d 'Trust the certificate authority in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l client-certificate -d 'Authenticate with the client certificate in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l client-key -d 'Authenticate with the client key in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l tls-server-name -d 'Check the server\'s certificate against this name (default: the host of the URL)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l request-timeout -d 'Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no limit' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l cache-dir -d 'Keep the schemas of custom kinds in this directory; empty: keep none (default: $KUBECACHEDIR, then ~/.kube/cache)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l color -d 'Choose when to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l ascii -d 'Use ASCII symbols only, for example * instead of ●' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s l -l selector -d 'Show only objects with these labels, for example app=web,tier!=cache' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l field-selector -d 'Show only objects with these field values, for example status.phase=Running' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s A -l all-namespaces -d 'Look in all namespaces, even if -n names one' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s f -l filename -d 'Show the objects that these manifests name: a file, a directory of .json, .yaml and .yml files, or - for standard input; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s R -l recursive -d 'With -f: read subdirectories too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s k -l kustomize -d 'Show the objects that this kustomization names; needs kubectl, which builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l from -d 'Read objects or watch events (YAML or JSON) from this file instead of a cluster; - is standard input' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l now -d 'With --from: use this as the current time, for example 2026-03-02T12:00:00Z' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s w -l watch -d 'Keep watching until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l once -d 'Print the current state and exit; same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l for -d 'Exit when every object meets this goal; repeat to require several in order. current (or ready): it and its dependents are Current. The other goals are those of kubectl wait: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l timeout -d 'Exit after this time, for example 30s or 5m; 0: check once; negative: no limit (default)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l exit-code -d 'Exit with 1 if something changed (changes) or is not well (status, trace), and with 4 on an error' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s o -l output -d 'Choose the output format' -r -f -a "text\t'A live table; without a terminal, one line for each change of state'
wide\t'The same with all columns, however narrow the terminal is'
json\t'One JSON record per line, for each change of state'
yaml\t'Each requested object as a YAML document, again for each change of state'
name\t'The name of each requested object in the form of kubectl\'s -o name, again for each change of state'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l rules -d 'Choose the health rules' -r -f -a "spy\t'The rules of kstatus, and Failed for problems that will not fix themselves'
kstatus\t'Exactly the rules of kstatus (sigs.k8s.io/cli-utils)'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l show-idle -d 'Also show idle replicasets kept for rollback (default: counted)' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l explain -d 'Show the rule behind each state, and the document that the rule comes from' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l unhealthy -d 'Show only objects that are not Current, and the owners above them' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l no-headers -d 'Leave out the titles of the columns and the counts' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l kubeconfig -d 'Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l kuberc -d 'Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l context -d 'Use this kubeconfig context (default: the current context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l cluster -d 'Use this kubeconfig cluster (default: the cluster of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l user -d 'Use this kubeconfig user (default: the user of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s n -l namespace -d 'Look in this namespace (default: the namespace of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s s -l server -d 'Connect to the API server at this address, for example localhost:6443' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l token -d 'Authenticate with this bearer token' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l username -d 'Authenticate with this user name (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l password -d 'Authenticate with this password (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l as -d 'Impersonate this user, for example jane' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l as-group -d 'Impersonate this group, for example system:masters; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l as-uid -d 'Impersonate this user ID' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l as-user-extra -d 'Impersonate with this extra field, for example reason=test; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l certificate-authority -d 'Trust the certificate authority in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l client-certificate -d 'Authenticate with the client certificate in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l client-key -d 'Authenticate with the client key in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l tls-server-name -d 'Check the server\'s certificate against this name (default: the host of the URL)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l request-timeout -d 'Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no limit' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l cache-dir -d 'Keep the schemas of custom kinds in this directory; empty: keep none (default: $KUBECACHEDIR, then ~/.kube/cache)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l color -d 'Choose when to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l ascii -d 'Use ASCII symbols only, for example * instead of ●' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l kubeconfig -d 'Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l kuberc -d 'Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l context -d 'Use this kubeconfig context (default: the current context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l cluster -d 'Use this kubeconfig cluster (default: the cluster of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l user -d 'Use this kubeconfig user (default: the user of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -s n -l namespace -d 'Look in this namespace (default: the namespace of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -s s -l server -d 'Connect to the API server at this address, for example localhost:6443' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l token -d 'Authenticate with this bearer token' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l username -d 'Authenticate with this user name (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l password -d 'Authenticate with this password (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l as -d 'Impersonate this user, for example jane' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l as-group -d 'Impersonate this group, for example system:masters; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l as-uid -d 'Impersonate this user ID' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l as-user-extra -d 'Impersonate with this extra field, for example reason=test; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l certificate-authority -d 'Trust the certificate authority in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l client-certificate -d 'Authenticate with the client certificate in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l client-key -d 'Authenticate with the client key in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l tls-server-name -d 'Check the server\'s certificate against this name (default: the host of the URL)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l request-timeout -d 'Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no limit' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l cache-dir -d 'Keep the schemas of custom kinds in this directory; empty: keep none (default: $KUBECACHEDIR, then ~/.kube/cache)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l color -d 'Choose when to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l ascii -d 'Use ASCII symbols only, for example * instead of ●' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -s h -l help -d 'Print help'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l kubeconfig -d 'Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l kuberc -d 'Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l context -d 'Use this kubeconfig context (default: the current context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l cluster -d 'Use this kubeconfig cluster (default: the cluster of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l user -d 'Use this kubeconfig user (default: the user of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -s n -l namespace -d 'Look in this namespace (default: the namespace of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -s s -l server -d 'Connect to the API server at this address, for example localhost:6443' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l token -d 'Authenticate with this bearer token' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l username -d 'Authenticate with this user name (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l password -d 'Authenticate with this password (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l as -d 'Impersonate this user, for example jane' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l as-group -d 'Impersonate this group, for example system:masters; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l as-uid -d 'Impersonate this user ID' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l as-user-extra -d 'Impersonate with this extra field, for example reason=test; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l certificate-authority -d 'Trust the certificate authority in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l client-certificate -d 'Authenticate with the client certificate in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l client-key -d 'Authenticate with the client key in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l tls-server-name -d 'Check the server\'s certificate against this name (default: the host of the URL)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l request-timeout -d 'Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no limit' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l cache-dir -d 'Keep the schemas of custom kinds in this directory; empty: keep none (default: $KUBECACHEDIR, then ~/.kube/cache)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l color -d 'Choose when to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l ascii -d 'Use ASCII symbols only, for example * instead of ●' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -s h -l help -d 'Print help'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s l -l selector -d 'Show only objects with these labels, for example app=web,tier!=cache' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l field-selector -d 'Show only objects with these field values, for example status.phase=Running' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s A -l all-namespaces -d 'Look in all namespaces, even if -n names one' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s f -l filename -d 'Show the objects that these manifests name: a file, a directory of .json, .yaml and .yml files, or - for standard input; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s R -l recursive -d 'With -f: read subdirectories too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s k -l kustomize -d 'Show the objects that this kustomization names; needs kubectl, which builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l from -d 'Read objects or watch events (YAML or JSON) from this file instead of a cluster; - is standard input' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l now -d 'With --from: use this as the current time, for example 2026-03-02T12:00:00Z' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s o -l output -d 'Choose the output format' -r -f -a "text\t'A live view; without a terminal, one line for each change'
json\t'The whole graph as one JSON record per line, for each change'
dot\t'The graph for Graphviz, once'
mermaid\t'The graph as a Mermaid flowchart, once'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l up -d 'Show only what is in front of the object and what uses it' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l down -d 'Show only what is behind the object and what it uses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l depth -d 'Follow at most this many relations, one after the other (default: all)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l relations -d 'Follow only these relations, for example volume,backend' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s w -l watch -d 'Keep watching until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l once -d 'Print the current state and exit; same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l for -d 'Exit when every object meets this goal; repeat to require several in order. current (or ready): it and its dependents are Current. The other goals are those of kubectl wait: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l timeout -d 'Exit after this time, for example 30s or 5m; 0: check once; negative: no limit (default)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l exit-code -d 'Exit with 1 if something changed (changes) or is not well (status, trace), and with 4 on an error' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l explain -d 'Show the rules behind the states, and the documents that they come from' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l kubeconfig -d 'Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l kuberc -d 'Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l context -d 'Use this kubeconfig context (default: the current context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l cluster -d 'Use this kubeconfig cluster (default: the cluster of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l user -d 'Use this kubeconfig user (default: the user of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s n -l namespace -d 'Look in this namespace (default: the namespace of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s s -l server -d 'Connect to the API server at this address, for example localhost:6443' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l token -d 'Authenticate with this bearer token' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l username -d 'Authenticate with this user name (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l password -d 'Authenticate with this password (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l as -d 'Impersonate this user, for example jane' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l as-group -d 'Impersonate this group, for example system:masters; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l as-uid -d 'Impersonate this user ID' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l as-user-extra -d 'Impersonate with this extra field, for example reason=test; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l certificate-authority -d 'Trust the certificate authority in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l client-certificate -d 'Authenticate with the client certificate in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l client-key -d 'Authenticate with the client key in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l tls-server-name -d 'Check the server\'s certificate against this name (default: the host of the URL)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l request-timeout -d 'Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no limit' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l cache-dir -d 'Keep the schemas of custom kinds in this directory; empty: keep none (default: $KUBECACHEDIR, then ~/.kube/cache)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l color -d 'Choose when to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l ascii -d 'Use ASCII symbols only, for example * instead of ●' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l client -d 'Print only the version of this program, without asking a server' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l kubeconfig -d 'Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l kuberc -d 'Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l context -d 'Use this kubeconfig context (default: the current context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l cluster -d 'Use this kubeconfig cluster (default: the cluster of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l user -d 'Use this kubeconfig user (default: the user of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -s n -l namespace -d 'Look in this namespace (default: the namespace of the context)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -s s -l server -d 'Connect to the API server at this address, for example localhost:6443' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l token -d 'Authenticate with this bearer token' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l username -d 'Authenticate with this user name (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l password -d 'Authenticate with this password (basic authentication)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l as -d 'Impersonate this user, for example jane' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l as-group -d 'Impersonate this group, for example system:masters; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l as-uid -d 'Impersonate this user ID' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l as-user-extra -d 'Impersonate with this extra field, for example reason=test; repeat for several' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l certificate-authority -d 'Trust the certificate authority in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l client-certificate -d 'Authenticate with the client certificate in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l client-key -d 'Authenticate with the client key in this file' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l tls-server-name -d 'Check the server\'s certificate against this name (default: the host of the URL)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l request-timeout -d 'Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no limit' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l cache-dir -d 'Keep the schemas of custom kinds in this directory; empty: keep none (default: $KUBECACHEDIR, then ~/.kube/cache)' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l color -d 'Choose when to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l ascii -d 'Use ASCII symbols only, for example * instead of ●' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -s h -l help -d 'Print help'
