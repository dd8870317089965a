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

complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l kubeconfig -d 'Path to the kubeconfig file to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l kuberc -d 'Path to the kuberc file, of which the credential plugin policy is honoured' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l context -d 'The name of the kubeconfig context to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l cluster -d 'The name of the kubeconfig cluster to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l user -d 'The name of the kubeconfig user to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -s n -l namespace -d 'The namespace to look in; the context\'s own by default' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l token -d 'Bearer token for authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l username -d 'Username for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l password -d 'Password for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l as -d 'Username to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l as-group -d 'Group to impersonate; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l as-user-extra -d 'Extra user fields to impersonate, as KEY=VALUE; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l certificate-authority -d 'Path to a certificate file for the certificate authority' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l client-certificate -d 'Path to a client certificate file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l client-key -d 'Path to a client key file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l tls-server-name -d 'The server name to check the server\'s certificate against' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l request-timeout -d 'How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l cache-dir -d 'Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -l ascii -d 'Use ASCII symbols only' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -s h -l help -d 'Print help'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "demo" -d 'Watch a story on an embedded cluster; no Kubernetes needed'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "changes" -d 'Show each version of an object as a diff, and who made it'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "status" -d 'Show the state of objects and of everything they own, live'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "completion" -d 'Print the completion script for a shell'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "options" -d 'List the flags that every command takes'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "trace" -d 'Follow the chain of one object: what a Service sends to, how a Deployment rolls out'
complete -c kubectl-spy -n "__fish_kubectl_spy_needs_command" -f -a "version" -d 'Print the client and server version'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l list -d 'List the stories' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l speed -d 'Play it this many times as fast' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l kubeconfig -d 'Path to the kubeconfig file to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l kuberc -d 'Path to the kuberc file, of which the credential plugin policy is honoured' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l context -d 'The name of the kubeconfig context to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l cluster -d 'The name of the kubeconfig cluster to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l user -d 'The name of the kubeconfig user to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -s n -l namespace -d 'The namespace to look in; the context\'s own by default' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l token -d 'Bearer token for authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l username -d 'Username for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l password -d 'Password for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l as -d 'Username to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l as-group -d 'Group to impersonate; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l as-user-extra -d 'Extra user fields to impersonate, as KEY=VALUE; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l certificate-authority -d 'Path to a certificate file for the certificate authority' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l client-certificate -d 'Path to a client certificate file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l client-key -d 'Path to a client key file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l tls-server-name -d 'The server name to check the server\'s certificate against' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l request-timeout -d 'How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l cache-dir -d 'Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -l ascii -d 'Use ASCII symbols only' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -s h -l help -d 'Print help'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -a "changes" -d 'Show each version of an object as a diff, and who made it'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -a "status" -d 'Show the state of objects and of everything they own, live'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and not __fish_seen_subcommand_from changes status trace" -a "trace" -d 'Follow the chain of one object: what a Service sends to, how a Deployment rolls out'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s l -l selector -d 'Label selector: -l key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l field-selector -d 'Field selector: --field-selector key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s A -l all-namespaces -d 'Look in all namespaces; wins over -n' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s f -l filename -d 'Look at the objects that manifests name: a file, a directory of .json, .yaml and .yml files, or - for stdin; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s R -l recursive -d 'With -f: read the directories in a directory, too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s k -l kustomize -d 'Look at the objects that a kustomization makes, as kubectl kustomize builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l from -d 'Read objects or watch events (YAML or JSON) from a file in place of a cluster; - is stdin' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l now -d 'With --from: the time to take as now, in RFC 3339' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s w -l watch -d 'Go on as things change, until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l once -d 'Show what is and end; the same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l for -d 'End once each object has come to this, as kubectl wait has it: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete; of several, to one after the other' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l timeout -d 'End after this time (30s, 5m, 1h); 0 looks once, without end if negative' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l exit-code -d 'Exit with 1 if anything has changed (changes) or is not well (status), with 4 for an error' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l count -d 'End after so many versions' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s o -l output -d 'Output format' -r -f -a "paths\t'A line a change, with its path'
tree\t'The object\'s JSON: changed lines marked, the rest left out and counted'
full\t'The object\'s JSON: changed lines marked, nothing left out'
diff\t'A unified diff of the object\'s YAML, for pagers such as delta'
json\t'A record a line, for programs'
yaml\t'Each version shown, whole, as a YAML document'
name\t'The name of each version\'s object, as kubectl\'s -o name'
json-patch\t'A JSON Patch (RFC 6902) a line, from each version to the next, noise included'
merge-patch\t'A JSON Merge Patch (RFC 7396) a line, from each version to the next, noise included'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l only -d 'Show only what is at or below this path, and the versions that change it: status, .spec.replicas, spec.**.image; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l ignore -d 'Leave out what is at or below this path; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l by -d 'Show only what this manager wrote, as "by" names it; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l full -d 'Show the whole of new objects, not the parts they are made of' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l show-noise -d 'Show changes that say nothing about the object as well: all of them, or those of these classes' -r -f -a "all\t'Everything'
version\t'What the server counts: resourceVersion, generation, observedGeneration'
managedFields\t'Who wrote what'
heartbeat\t'Probe and heartbeat times, renewed leases'
order\t'Items of a list whose order means nothing, in another order'
equivalent\t'Other spellings of the same quantity, time or number'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l show-managed-fields -d 'Show changes of metadata.managedFields as well' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l list-key -d 'Tell the items of the lists at PATH apart by these fields: .spec.servers=host,port; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l show-secrets -d 'Show what Secrets hold: decoded for people, as it is stored in yaml, json and patches' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l no-fold -d 'Tell every change and every line of a text, however many; on a terminal they are counted above 200' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l since -d 'Begin so long ago (10m, 1h30m), with all the server remembers (all), or now (0); without a TYPE it is about every kind in the namespace. By default named objects begin with their last 20 versions' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l since-rv -d 'Begin after this resourceVersion' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l kubeconfig -d 'Path to the kubeconfig file to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l kuberc -d 'Path to the kuberc file, of which the credential plugin policy is honoured' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l context -d 'The name of the kubeconfig context to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l cluster -d 'The name of the kubeconfig cluster to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l user -d 'The name of the kubeconfig user to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s n -l namespace -d 'The namespace to look in; the context\'s own by default' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l token -d 'Bearer token for authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l username -d 'Username for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l password -d 'Password for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l as -d 'Username to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l as-group -d 'Group to impersonate; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l as-user-extra -d 'Extra user fields to impersonate, as KEY=VALUE; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l certificate-authority -d 'Path to a certificate file for the certificate authority' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l client-certificate -d 'Path to a client certificate file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l client-key -d 'Path to a client key file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l tls-server-name -d 'The server name to check the server\'s certificate against' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l request-timeout -d 'How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l cache-dir -d 'Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -l ascii -d 'Use ASCII symbols only' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from changes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s l -l selector -d 'Label selector: -l key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l field-selector -d 'Field selector: --field-selector key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s A -l all-namespaces -d 'Look in all namespaces; wins over -n' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s f -l filename -d 'Look at the objects that manifests name: a file, a directory of .json, .yaml and .yml files, or - for stdin; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s R -l recursive -d 'With -f: read the directories in a directory, too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s k -l kustomize -d 'Look at the objects that a kustomization makes, as kubectl kustomize builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l from -d 'Read objects or watch events (YAML or JSON) from a file in place of a cluster; - is stdin' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l now -d 'With --from: the time to take as now, in RFC 3339' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s w -l watch -d 'Go on as things change, until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l once -d 'Show what is and end; the same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l for -d 'End once each object has come to this, as kubectl wait has it: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete; of several, to one after the other' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l timeout -d 'End after this time (30s, 5m, 1h); 0 looks once, without end if negative' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l exit-code -d 'Exit with 1 if anything has changed (changes) or is not well (status), with 4 for an error' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s o -l output -d 'Output format' -r -f -a "text\t'A live table on a terminal, else a line whenever a state changes'
json\t'A JSON object a line whenever anything about a state changes'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l rules -d 'By whose rules to judge' -r -f -a "spy\t'kstatus\'s, but what cannot get well without help is Failed'
kstatus\t'Those of kstatus (sigs.k8s.io/cli-utils)'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l show-idle -d 'Show replicasets, too, that are kept for roll-backs alone' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l kubeconfig -d 'Path to the kubeconfig file to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l kuberc -d 'Path to the kuberc file, of which the credential plugin policy is honoured' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l context -d 'The name of the kubeconfig context to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l cluster -d 'The name of the kubeconfig cluster to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l user -d 'The name of the kubeconfig user to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s n -l namespace -d 'The namespace to look in; the context\'s own by default' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l token -d 'Bearer token for authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l username -d 'Username for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l password -d 'Password for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l as -d 'Username to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l as-group -d 'Group to impersonate; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l as-user-extra -d 'Extra user fields to impersonate, as KEY=VALUE; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l certificate-authority -d 'Path to a certificate file for the certificate authority' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l client-certificate -d 'Path to a client certificate file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l client-key -d 'Path to a client key file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l tls-server-name -d 'The server name to check the server\'s certificate against' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l request-timeout -d 'How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l cache-dir -d 'Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -l ascii -d 'Use ASCII symbols only' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s l -l selector -d 'Label selector: -l key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l field-selector -d 'Field selector: --field-selector key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s A -l all-namespaces -d 'Look in all namespaces; wins over -n' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s f -l filename -d 'Look at the objects that manifests name: a file, a directory of .json, .yaml and .yml files, or - for stdin; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s R -l recursive -d 'With -f: read the directories in a directory, too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s k -l kustomize -d 'Look at the objects that a kustomization makes, as kubectl kustomize builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l from -d 'Read objects or watch events (YAML or JSON) from a file in place of a cluster; - is stdin' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l now -d 'With --from: the time to take as now, in RFC 3339' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s o -l output -d 'Output format' -r -f -a "text\t'Text for people'
json\t'The graph as a line of JSON, each time it has changed'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s w -l watch -d 'Go on as things change, until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l once -d 'Show what is and end; the same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l kubeconfig -d 'Path to the kubeconfig file to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l kuberc -d 'Path to the kuberc file, of which the credential plugin policy is honoured' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l context -d 'The name of the kubeconfig context to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l cluster -d 'The name of the kubeconfig cluster to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l user -d 'The name of the kubeconfig user to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s n -l namespace -d 'The namespace to look in; the context\'s own by default' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l token -d 'Bearer token for authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l username -d 'Username for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l password -d 'Password for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l as -d 'Username to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l as-group -d 'Group to impersonate; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l as-user-extra -d 'Extra user fields to impersonate, as KEY=VALUE; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l certificate-authority -d 'Path to a certificate file for the certificate authority' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l client-certificate -d 'Path to a client certificate file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l client-key -d 'Path to a client key file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l tls-server-name -d 'The server name to check the server\'s certificate against' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l request-timeout -d 'How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l cache-dir -d 'Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -l ascii -d 'Use ASCII symbols only' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand demo; and __fish_seen_subcommand_from trace" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s l -l selector -d 'Label selector: -l key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l field-selector -d 'Field selector: --field-selector key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s A -l all-namespaces -d 'Look in all namespaces; wins over -n' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s f -l filename -d 'Look at the objects that manifests name: a file, a directory of .json, .yaml and .yml files, or - for stdin; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s R -l recursive -d 'With -f: read the directories in a directory, too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s k -l kustomize -d 'Look at the objects that a kustomization makes, as kubectl kustomize builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l from -d 'Read objects or watch events (YAML or JSON) from a file in place of a cluster; - is stdin' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l now -d 'With --from: the time to take as now, in RFC 3339' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s w -l watch -d 'Go on as things change, until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l once -d 'Show what is and end; the same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l for -d 'End once each object has come to this, as kubectl wait has it: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete; of several, to one after the other' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l timeout -d 'End after this time (30s, 5m, 1h); 0 looks once, without end if negative' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l exit-code -d 'Exit with 1 if anything has changed (changes) or is not well (status), with 4 for an error' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l count -d 'End after so many versions' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s o -l output -d 'Output format' -r -f -a "paths\t'A line a change, with its path'
tree\t'The object\'s JSON: changed lines marked, the rest left out and counted'
full\t'The object\'s JSON: changed lines marked, nothing left out'
diff\t'A unified diff of the object\'s YAML, for pagers such as delta'
json\t'A record a line, for programs'
yaml\t'Each version shown, whole, as a YAML document'
name\t'The name of each version\'s object, as kubectl\'s -o name'
json-patch\t'A JSON Patch (RFC 6902) a line, from each version to the next, noise included'
merge-patch\t'A JSON Merge Patch (RFC 7396) a line, from each version to the next, noise included'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l only -d 'Show only what is at or below this path, and the versions that change it: status, .spec.replicas, spec.**.image; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l ignore -d 'Leave out what is at or below this path; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l by -d 'Show only what this manager wrote, as "by" names it; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l full -d 'Show the whole of new objects, not the parts they are made of' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l show-noise -d 'Show changes that say nothing about the object as well: all of them, or those of these classes' -r -f -a "all\t'Everything'
version\t'What the server counts: resourceVersion, generation, observedGeneration'
managedFields\t'Who wrote what'
heartbeat\t'Probe and heartbeat times, renewed leases'
order\t'Items of a list whose order means nothing, in another order'
equivalent\t'Other spellings of the same quantity, time or number'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l show-managed-fields -d 'Show changes of metadata.managedFields as well' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l list-key -d 'Tell the items of the lists at PATH apart by these fields: .spec.servers=host,port; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l show-secrets -d 'Show what Secrets hold: decoded for people, as it is stored in yaml, json and patches' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l no-fold -d 'Tell every change and every line of a text, however many; on a terminal they are counted above 200' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l since -d 'Begin so long ago (10m, 1h30m), with all the server remembers (all), or now (0); without a TYPE it is about every kind in the namespace. By default named objects begin with their last 20 versions' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l since-rv -d 'Begin after this resourceVersion' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l kubeconfig -d 'Path to the kubeconfig file to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l kuberc -d 'Path to the kuberc file, of which the credential plugin policy is honoured' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l context -d 'The name of the kubeconfig context to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l cluster -d 'The name of the kubeconfig cluster to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l user -d 'The name of the kubeconfig user to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s n -l namespace -d 'The namespace to look in; the context\'s own by default' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l token -d 'Bearer token for authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l username -d 'Username for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l password -d 'Password for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l as -d 'Username to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l as-group -d 'Group to impersonate; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l as-user-extra -d 'Extra user fields to impersonate, as KEY=VALUE; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l certificate-authority -d 'Path to a certificate file for the certificate authority' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l client-certificate -d 'Path to a client certificate file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l client-key -d 'Path to a client key file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l tls-server-name -d 'The server name to check the server\'s certificate against' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l request-timeout -d 'How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l cache-dir -d 'Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -l ascii -d 'Use ASCII symbols only' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand changes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s l -l selector -d 'Label selector: -l key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l field-selector -d 'Field selector: --field-selector key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s A -l all-namespaces -d 'Look in all namespaces; wins over -n' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s f -l filename -d 'Look at the objects that manifests name: a file, a directory of .json, .yaml and .yml files, or - for stdin; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s R -l recursive -d 'With -f: read the directories in a directory, too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s k -l kustomize -d 'Look at the objects that a kustomization makes, as kubectl kustomize builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l from -d 'Read objects or watch events (YAML or JSON) from a file in place of a cluster; - is stdin' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l now -d 'With --from: the time to take as now, in RFC 3339' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s w -l watch -d 'Go on as things change, until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l once -d 'Show what is and end; the same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l for -d 'End once each object has come to this, as kubectl wait has it: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete; of several, to one after the other' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l timeout -d 'End after this time (30s, 5m, 1h); 0 looks once, without end if negative' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l exit-code -d 'Exit with 1 if anything has changed (changes) or is not well (status), with 4 for an error' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s o -l output -d 'Output format' -r -f -a "text\t'A live table on a terminal, else a line whenever a state changes'
json\t'A JSON object a line whenever anything about a state changes'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l rules -d 'By whose rules to judge' -r -f -a "spy\t'kstatus\'s, but what cannot get well without help is Failed'
kstatus\t'Those of kstatus (sigs.k8s.io/cli-utils)'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l show-idle -d 'Show replicasets, too, that are kept for roll-backs alone' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l kubeconfig -d 'Path to the kubeconfig file to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l kuberc -d 'Path to the kuberc file, of which the credential plugin policy is honoured' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l context -d 'The name of the kubeconfig context to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l cluster -d 'The name of the kubeconfig cluster to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l user -d 'The name of the kubeconfig user to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s n -l namespace -d 'The namespace to look in; the context\'s own by default' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l token -d 'Bearer token for authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l username -d 'Username for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l password -d 'Password for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l as -d 'Username to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l as-group -d 'Group to impersonate; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l as-user-extra -d 'Extra user fields to impersonate, as KEY=VALUE; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l certificate-authority -d 'Path to a certificate file for the certificate authority' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l client-certificate -d 'Path to a client certificate file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l client-key -d 'Path to a client key file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l tls-server-name -d 'The server name to check the server\'s certificate against' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l request-timeout -d 'How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l cache-dir -d 'Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -l ascii -d 'Use ASCII symbols only' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l kubeconfig -d 'Path to the kubeconfig file to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l kuberc -d 'Path to the kuberc file, of which the credential plugin policy is honoured' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l context -d 'The name of the kubeconfig context to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l cluster -d 'The name of the kubeconfig cluster to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l user -d 'The name of the kubeconfig user to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -s n -l namespace -d 'The namespace to look in; the context\'s own by default' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l token -d 'Bearer token for authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l username -d 'Username for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l password -d 'Password for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l as -d 'Username to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l as-group -d 'Group to impersonate; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l as-user-extra -d 'Extra user fields to impersonate, as KEY=VALUE; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l certificate-authority -d 'Path to a certificate file for the certificate authority' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l client-certificate -d 'Path to a client certificate file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l client-key -d 'Path to a client key file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l tls-server-name -d 'The server name to check the server\'s certificate against' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l request-timeout -d 'How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l cache-dir -d 'Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -l ascii -d 'Use ASCII symbols only' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand completion" -s h -l help -d 'Print help'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l kubeconfig -d 'Path to the kubeconfig file to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l kuberc -d 'Path to the kuberc file, of which the credential plugin policy is honoured' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l context -d 'The name of the kubeconfig context to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l cluster -d 'The name of the kubeconfig cluster to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l user -d 'The name of the kubeconfig user to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -s n -l namespace -d 'The namespace to look in; the context\'s own by default' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l token -d 'Bearer token for authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l username -d 'Username for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l password -d 'Password for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l as -d 'Username to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l as-group -d 'Group to impersonate; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l as-user-extra -d 'Extra user fields to impersonate, as KEY=VALUE; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l certificate-authority -d 'Path to a certificate file for the certificate authority' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l client-certificate -d 'Path to a client certificate file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l client-key -d 'Path to a client key file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l tls-server-name -d 'The server name to check the server\'s certificate against' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l request-timeout -d 'How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l cache-dir -d 'Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -l ascii -d 'Use ASCII symbols only' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand options" -s h -l help -d 'Print help'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s l -l selector -d 'Label selector: -l key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l field-selector -d 'Field selector: --field-selector key1=value1,key2=value2' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s A -l all-namespaces -d 'Look in all namespaces; wins over -n' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s f -l filename -d 'Look at the objects that manifests name: a file, a directory of .json, .yaml and .yml files, or - for stdin; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s R -l recursive -d 'With -f: read the directories in a directory, too' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s k -l kustomize -d 'Look at the objects that a kustomization makes, as kubectl kustomize builds it' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l from -d 'Read objects or watch events (YAML or JSON) from a file in place of a cluster; - is stdin' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l now -d 'With --from: the time to take as now, in RFC 3339' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s o -l output -d 'Output format' -r -f -a "text\t'Text for people'
json\t'The graph as a line of JSON, each time it has changed'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s w -l watch -d 'Go on as things change, until Ctrl-C' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l once -d 'Show what is and end; the same as --watch=false' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l kubeconfig -d 'Path to the kubeconfig file to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l kuberc -d 'Path to the kuberc file, of which the credential plugin policy is honoured' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l context -d 'The name of the kubeconfig context to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l cluster -d 'The name of the kubeconfig cluster to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l user -d 'The name of the kubeconfig user to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s n -l namespace -d 'The namespace to look in; the context\'s own by default' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l token -d 'Bearer token for authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l username -d 'Username for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l password -d 'Password for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l as -d 'Username to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l as-group -d 'Group to impersonate; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l as-user-extra -d 'Extra user fields to impersonate, as KEY=VALUE; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l certificate-authority -d 'Path to a certificate file for the certificate authority' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l client-certificate -d 'Path to a client certificate file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l client-key -d 'Path to a client key file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l tls-server-name -d 'The server name to check the server\'s certificate against' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l request-timeout -d 'How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l cache-dir -d 'Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -l ascii -d 'Use ASCII symbols only' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand trace" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l client -d 'If true, shows client version only (no server required)' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l kubeconfig -d 'Path to the kubeconfig file to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l kuberc -d 'Path to the kuberc file, of which the credential plugin policy is honoured' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l context -d 'The name of the kubeconfig context to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l cluster -d 'The name of the kubeconfig cluster to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l user -d 'The name of the kubeconfig user to use' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -s n -l namespace -d 'The namespace to look in; the context\'s own by default' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -s s -l server -d 'The address and port of the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l token -d 'Bearer token for authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l username -d 'Username for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l password -d 'Password for basic authentication to the API server' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l as -d 'Username to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l as-group -d 'Group to impersonate; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l as-user-extra -d 'Extra user fields to impersonate, as KEY=VALUE; may be repeated' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l certificate-authority -d 'Path to a certificate file for the certificate authority' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l client-certificate -d 'Path to a client certificate file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l client-key -d 'Path to a client key file for TLS' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate; this makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l tls-server-name -d 'The server name to check the server\'s certificate against' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l request-timeout -d 'How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l cache-dir -d 'Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty' -r
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -l ascii -d 'Use ASCII symbols only' -r -f -a "true\t''
false\t''"
complete -c kubectl-spy -n "__fish_kubectl_spy_using_subcommand version" -s h -l help -d 'Print help'
